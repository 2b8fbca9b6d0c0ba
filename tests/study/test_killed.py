"""Processes that die at any moment: nothing acknowledged is lost, nothing is used twice."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from contextlib import closing
from functools import partial

import pytest

from benchmarks.attack.mortals import live
from outcrop.space import Float, Space
from outcrop.study import Study, ask_lock, load_study
from outcrop.study.events import Asked, from_text
from outcrop.study.storage.sql import SqlStorage

DEADLINE = 0.3  # of a turn, shorter than usual since so many die in theirs
LEASE = 0.5


def killed_after(count: int, url: str, pause: float | None) -> list[list[object]]:
    """What a process acknowledged before it was killed, which is `count` steps at least.

    It is killed `pause` seconds later, in the middle of whatever it does by then; without a pause
    it rests after these steps and is killed between two of them.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            ask_lock.DEADLINE = DEADLINE
            live(url, partial(say, writing), LEASE, count if pause is None else None)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as lines:
        said = [json.loads(lines.readline()) for _ in range(count)]
        time.sleep(pause or 0.0)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return said + [json.loads(line) for line in lines]


def say(pipe: int, *words: object) -> None:
    os.write(pipe, (json.dumps(words) + "\n").encode())


def abandoned(url: str) -> set[int]:
    """The trials whose lease is over and that can be handed out once more."""
    with closing(SqlStorage(url)) as store:
        study = load_study("mortal", store)
        over = {key for key, held in store.leases(study._id).items() if held.left <= 0}
        return {
            trial.number
            for trial in study.trials
            if trial.state == "running" and trial.attempt < 3 and f"trial {trial.number}" in over
        }


def wait_for_leases(url: str) -> None:
    """Wait until every lease is over."""
    with closing(SqlStorage(url)) as store:
        identity = store.find("mortal")
        while any(held.left > 0 for held in store.leases(identity).values()):
            time.sleep(0.02)


@pytest.mark.parametrize(
    "kills", [pytest.param(25), pytest.param(200, marks=pytest.mark.slow)], ids=str
)
def test_whoever_is_killed_leaves_every_acknowledged_result(kills, tmp_path):
    url = f"sqlite:///{tmp_path / 'mortal.db'}"
    Study(Space({"x": Float(0, 1)}), "mortal", url, method="random", seed=0)
    chance = random.Random(7)
    said: list[list[object]] = []
    for life in range(kills):
        if life % 5 == 4:
            wait_for_leases(url)
        waiting = abandoned(url)
        pause = None if life % 3 == 0 else chance.uniform(0.0, 0.02)
        lived = killed_after(chance.randrange(8), url, pause)
        asked = [tuple(words[1:]) for words in lived if words[0] == "asked"]
        if (first_new := next((i for i, (_, n) in enumerate(asked) if n == 1), None)) is not None:
            assert waiting <= {number for number, _ in asked[:first_new]}, "before anything new"
        said += lived
    wait_for_leases(url)
    survivor = load_study("mortal", url)
    before = {trial.number for trial in survivor.trials if trial.state == "running"}
    offered = set()
    while not before <= offered:
        trial = survivor.ask(lease=60)
        offered.add(trial.number)
        survivor.tell(trial, 0.0)
        if trial.attempt == 1:
            break  # a new one: nothing else was left to offer
    gone = [trial for trial in survivor.trials if trial.number in before - offered]
    assert all("no answer" in trial.reason for trial in gone), "given up after three attempts"

    values = {trial.number: trial.value for trial in survivor.trials}
    tells = [words[1:] for words in said if words[0] == "told"]
    assert all(values[number] == value for number, value in tells)
    asks = Counter(tuple(words[1:]) for words in said if words[0] == "asked")
    assert max(asks.values()) == 1, "a number and attempt is given to one only"
    assert max(attempt for _, attempt in asks) > 1, "some were handed out again"

    assert survivor.replay().identical
    log = [from_text(text) for text in survivor._store.read(survivor._id)]
    numbers = [event.number for event in log if isinstance(event, Asked) and event.attempt == 1]
    assert numbers == list(range(len(numbers)))
