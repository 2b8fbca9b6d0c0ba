"""Processes that die at any moment: nothing acknowledged is lost, nothing is used twice."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter

import pytest

from outcrop.space import Float, Space
from outcrop.study import Study, load_study
from outcrop.study.events import Asked, Expired, Told, from_text
from tests.study.mortals import LEASE, live

DEADLINE = 0.3  # of a turn, shorter than usual since so many die in theirs
SLACK = 5.0  # seconds within which a trial is offered again once its lease ran out


def killed_after(seconds: float, url: str) -> list[list[object]]:
    """What a process acknowledged before it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            live(url, writing, DEADLINE)
        finally:
            os._exit(1)
    os.close(writing)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading) as lines:
        return [json.loads(line) for line in lines.read().splitlines()]


@pytest.mark.parametrize(
    "kills", [pytest.param(25), pytest.param(200, marks=pytest.mark.slow)], ids=str
)
def test_whoever_is_killed_leaves_every_acknowledged_result(kills, tmp_path):
    url = f"sqlite:///{tmp_path / 'mortal.db'}"
    Study(Space({"x": Float(0, 1)}), "mortal", url, method="random", seed=0)
    chance = random.Random(7)
    said: list[list[object]] = []
    for _ in range(kills):
        said += killed_after(chance.uniform(0.005, 0.25), url)
    time.sleep(LEASE)
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
    assert len(tells) > kills / 5, "some lived long enough to tell"

    assert survivor.replay().identical
    log = [from_text(text) for text in survivor._store.read(survivor._id)]
    numbers = [event.number for event in log if isinstance(event, Asked) and event.attempt == 1]
    assert numbers == list(range(len(numbers)))
    newest: dict[int, float] = {}
    for event in log:
        if isinstance(event, Asked | Expired | Told) and event.number in newest:
            assert event.at - newest[event.number] < LEASE + SLACK
        if isinstance(event, Asked):
            newest[event.number] = event.at
