"""Finding and ending the processes below this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from outcrop.study.running import process_tree
from tests.study.running.processes import still_alive

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks at /proc")

# Starts a program, says its number, and waits.
PARENT = """
import os, signal, subprocess, sys
if "stubborn" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-S", "-c", "import signal; signal.pause()"])
print(child.pid, flush=True)
signal.pause()
"""


@pytest.fixture
def family():
    """A process and its child, with a session of their own, and their numbers."""
    started = []

    def start(*arguments):
        command = [sys.executable, "-S", "-c", PARENT, *arguments]
        parent = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        started.append(parent)
        return parent, [parent.pid, int(parent.stdout.readline())]

    yield start
    for parent in started:
        parent.stdout.close()
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()


def test_a_family_is_a_process_and_all_below_it(family):
    (first, one), (second, two) = family(), family()
    assert sorted(process_tree.family([first.pid, second.pid])) == sorted(one + two)
    assert process_tree.family([first.pid, second.pid], spared=[second.pid]) == one
    assert set(process_tree.children(os.getpid())) >= {first.pid, second.pid}


def test_what_does_not_end_at_sigterm_is_killed(family):
    parent, pids = family("stubborn")
    process_tree.end(lambda: process_tree.family([parent.pid]), grace=0.2)
    assert still_alive(pids) == []


def test_a_group_stands_for_its_members_where_a_system_has_no_list_of_children(family):
    parent, pids = family()

    def find():
        parent.poll()
        return process_tree.family([-parent.pid])

    assert find() == [-parent.pid]
    process_tree.end(find)
    assert still_alive(pids) == []
    assert find() == []
