"""Spaces of every kind, small enough to search in a test."""

from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space

EVERY_SPACE = {
    "box": Space({"x": Float(-2, 3), "y": Float(1e-3, 10, log=True)}),
    "line": Space({"x": Float(0, 1)}),
    "integers": Space({"a": Int(0, 300), "b": Int(1, 1000, log=True)}),
    "grid": Space({"a": Float(0, 1, step=0.125), "b": Int(1, 9, step=2)}),
    "categories": Space({"c": Categorical(list("abcde")), "d": Categorical([1, 2, 3])}),
    "mixed": Space(
        {
            "x": Float(0, 1),
            "n": Int(1, 8),
            "c": Categorical(["u", "v", "w"]),
            "o": Ordinal([1, 2, 4, 8]),
            "k": Fixed(7),
        }
    ),
    "conditional": Space(
        {
            "lr": Float(1e-4, 1, log=True),
            "model": Choice(
                {
                    "linear": {},
                    "tree": {"depth": Int(1, 12)},
                    "mlp": {
                        "act": Categorical(["relu", "tanh"]),
                        "opt": Choice({"sgd": {"mu": Float(0, 1)}, "adam": {}}),
                    },
                }
            ),
        }
    ),
}

# Every kind of noise on one space, and every space with noise that is left open.
EVERY_NOISE = [
    *(("box", noise) for noise in (True, False, 0.3)),
    *((space, None) for space in EVERY_SPACE),
]
