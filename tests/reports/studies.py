"""Studies of every kind, for reports."""

from __future__ import annotations

import math

import outcrop as oc

__all__ = ["EVIL", "KINDS", "LONG"]

LONG = "<u>" + 'long "quoted" text ' * 500  # 10,000 characters
EVIL = "</script><img src=x onerror='hurt=1'>\"&amp;\u202e😀\n<b>bold</b>"


def empty():
    return oc.Study(oc.Space({"x": oc.Float(0, 1)}), name="empty", seed=0)


def box(noise=False):
    study = oc.Study(
        oc.Space({"x": oc.Float(0, 1), "y": oc.Float(1e-3, 1, log=True), "n": oc.Int(1, 5)}),
        name="noisy" if noise else "box",
        seed=0,
        method="gp",
        noise=noise or None,
        direction="maximize",
    )
    for _ in range(14):
        trial = study.ask()
        value = -((trial.params["x"] - 0.3) ** 2) - abs(math.log10(trial.params["y"]) + 1)
        study.tell(trial, value, std=0.1 if noise else None)
    study.ask()
    return study


def noisy():
    return box(noise=True)


def hostile():
    """A conditional space with hostile names, categories, options, reasons and study name."""
    space = oc.Space(
        {
            "lr": oc.Float(1e-5, 1e-1, log=True),
            EVIL: oc.Categorical(["a", EVIL, LONG]),
            LONG: oc.Float(0, 1),
            "model": oc.Choice({"linear": {}, EVIL: {"layers": oc.Int(1, 4)}}),
            "size": oc.Ordinal(["s", "m", "l"]),
        }
    )
    study = oc.Study(space, name=EVIL, seed=0, method="tree")
    for number in range(16):
        trial = study.ask(worker=EVIL)
        if number % 5 == 4:
            study.fail(trial, EVIL if number == 4 else LONG)
        else:
            study.tell(trial, abs(math.log10(trial.params["lr"]) + 3) + (trial.params[EVIL] == "a"))
    return study


def failing():
    study = oc.Study(oc.Space({"x": oc.Float(0, 1)}), name="failing", seed=0)
    for _ in range(4):
        study.fail(study.ask(), "diverged")
    return study


def categories():
    space = oc.Space({"a": oc.Categorical(["x", "y"]), "b": oc.Categorical([True, None, 3])})
    study = oc.Study(space, name="categories", seed=0, method="random", noise=True)
    for number in range(8):
        study.tell(study.ask(), float(number))
    return study


KINDS = {each.__name__: each for each in (empty, box, noisy, hostile, failing, categories)}
