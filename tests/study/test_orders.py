"""Several holders of trials, a clock, and whatever they do in any order, beside a plain model."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import TrialError
from outcrop.study import Study, Trial, load_study
from outcrop.study.storage import Memory
from tests.study.handles import SPACE

HOLDERS = 3
LEASE = 10.0
ATTEMPTS = 3


@dataclass
class Life:
    """What should be known of one trial."""

    attempt: int = 0
    deadline: float | None = None  # None if it is waited for without end
    holder: int = -1
    fate: str = "running"  # "told", "failed", "released", "given up"
    value: float | None = None


@dataclass
class Model:
    """The rulings on leases, in the plainest words."""

    lives: list[Life] = field(default_factory=list)
    now: float = 0.0

    def ask(self, holder: int, lease: float | None) -> int:
        for number, life in enumerate(self.lives):
            if life.fate == "running" and life.deadline is not None and life.deadline <= self.now:
                if life.attempt < ATTEMPTS:
                    return self._hand_out(number, holder, lease)
                life.fate = "given up"
        self.lives.append(Life())
        return self._hand_out(len(self.lives) - 1, holder, lease)

    def _hand_out(self, number: int, holder: int, lease: float | None) -> int:
        life = self.lives[number]
        life.attempt += 1
        life.holder = holder
        life.deadline = None if lease is None else self.now + lease
        return number

    def renew(self, holder: int, number: int) -> None:
        life = self.lives[number]
        if life.fate == "running" and life.holder == holder and life.deadline is not None:
            life.deadline = self.now + LEASE

    def end(self, number: int, fate: str, value: float | None) -> bool:
        """Whether an outcome is taken note of at all."""
        life = self.lives[number]
        again = life.attempt > 1
        if life.fate in ("running", "given up") or (life.fate == "released" and again):
            life.fate, life.value = fate, value
            return True
        return life.fate != "released" and again

    def release(self, trial: Trial) -> bool:
        life = self.lives[trial.number]
        if life.fate != "running" or trial.attempt < life.attempt:
            return False
        life.fate = "released"
        return True


def expected_and_done(model, study, kind, trial, value):
    """Whether the model takes note of an outcome, and what tells the study of it."""
    if kind == "tell":
        return model.end(trial.number, "told", value), lambda: study.tell(trial, value)
    if kind == "fail":
        return model.end(trial.number, "failed", None), lambda: study.fail(trial)
    return model.release(trial), lambda: study.release(trial)


def act(model: Model, studies: list[Study], held: list[Trial], step: tuple[str, int, int]) -> None:
    """One step, taken by both."""
    kind, who, which = step
    study = studies[who]
    if kind == "wait":
        model.now += which
    elif kind in ("ask", "ask for good"):
        lease = LEASE if kind == "ask" else None
        number = model.ask(who, lease)
        trial = study.ask(lease=lease)
        assert (trial.number, trial.attempt) == (number, model.lives[number].attempt)
        held.append(trial)
    elif held and kind == "renew":
        trial = held[which % len(held)]
        model.renew(who, trial.number)
        study.renew([trial], LEASE)
    elif held:
        trial = held[which % len(held)]
        taken, do = expected_and_done(model, study, kind, trial, float(len(held)))
        try:
            do()
        except TrialError:
            assert not taken
        else:
            assert taken


STATES = {"running": "running", "told": "finished", "failed": "failed", "given up": "failed"}
KINDS = ("ask", "ask", "ask for good", "wait", "wait", "renew", "tell", "fail", "release")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.integers(0, HOLDERS - 1), st.integers(0, 12)),
        max_size=40,
    )
)
def test_holders_who_do_anything_at_any_time_agree_with_the_rulings(steps):
    model, held, storage = Model(), [], Memory()
    clock = SimpleNamespace(monotonic=lambda: model.now)
    with patch("outcrop.study.storage.memory.time", clock):
        first = Study(SPACE, "s", storage, method="random", seed=1)
        studies = [first, *(load_study("s", storage) for _ in range(HOLDERS - 1))]
        for step in steps:
            act(model, studies, held, step)
        expected = [
            (number, life.attempt, STATES[life.fate], life.value)
            for number, life in enumerate(model.lives)
            if life.fate != "released"
        ]
        for study in [*studies, load_study("s", storage)]:
            trials = [(t.number, t.attempt, t.state, t.value) for t in study.trials]
            assert trials == expected
        assert first.replay().identical
