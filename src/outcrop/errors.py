"""Every exception Outcrop raises on purpose.

    OutcropError
    ├── SpaceError(ValueError)        a search space or parameter was declared wrongly
    ├── ParamsError(ValueError)       given parameters do not fit the space
    ├── ShapeError(ValueError)        arrays whose shapes do not go together
    ├── ModelError(ValueError)        a kernel, prior or model was put together wrongly
    ├── BanditError(ValueError)       a bandit, its state or a reward that cannot be
    ├── NumericalError(ArithmeticError)   no stated remedy made the computation possible
    ├── MethodError(ValueError)       an unknown or unsuitable method, direction or option
    ├── TrialError(ValueError)        a trial that is unknown, finished already, or told nonsense
    ├── StudyError(ValueError)        a study that does not exist, is another one, or was deleted
    ├── StorageError(OSError)         a store that cannot be opened, read or written
    ├── ObjectiveError(TypeError)     an objective that cannot be called where it should run
    ├── SpaceExhausted(RuntimeError)  every legal configuration is known
    ├── NoBelief(RuntimeError)        asked what is believed before the first value
    ├── AllTrialsFailed(RuntimeError) the first trials of an optimisation all raised
    └── MissingExtra(ImportError)     an optional part is not installed

Each is also the built-in error a caller would expect, and its message says what was expected, what
came, and what to do.
"""

from __future__ import annotations

__all__ = [
    "AllTrialsFailed",
    "BanditError",
    "MethodError",
    "MissingExtra",
    "ModelError",
    "NoBelief",
    "NumericalError",
    "ObjectiveError",
    "OutcropError",
    "ParamsError",
    "ShapeError",
    "SpaceError",
    "SpaceExhausted",
    "StorageError",
    "StudyError",
    "TrialError",
]


class OutcropError(Exception):
    """Root of everything Outcrop raises on purpose."""


class SpaceError(OutcropError, ValueError):
    """A search space or one of its parameters was declared wrongly."""


class ParamsError(OutcropError, ValueError):
    """Given parameters do not fit the space: unknown, missing, inactive or illegal."""


class ShapeError(OutcropError, ValueError):
    """Arrays whose shapes do not go together."""


class ModelError(OutcropError, ValueError):
    """A kernel, prior or model was put together wrongly."""


class BanditError(OutcropError, ValueError):
    """A bandit's option, arm, state or reward that is not one."""


class NumericalError(OutcropError, ArithmeticError):
    """A computation failed after every stated remedy was tried."""


class MethodError(OutcropError, ValueError):
    """A method, direction or option that does not exist or does not fit the space."""


class TrialError(OutcropError, ValueError):
    """A trial that is unknown or finished already, or a value that is not one."""


class StudyError(OutcropError, ValueError):
    """A study that does not exist, differs from the stored one, or was deleted."""


class StorageError(OutcropError, OSError):
    """A store that cannot be opened, read or written, or that a newer release made."""


class ObjectiveError(OutcropError, TypeError):
    """An objective that cannot be called, or not where it is to run."""


class SpaceExhausted(OutcropError, RuntimeError):
    """Every legal configuration is known and none is worth repeating."""


class NoBelief(OutcropError, RuntimeError):
    """Nothing was told yet, so nothing is believed."""


class AllTrialsFailed(OutcropError, RuntimeError):
    """The first trials of an optimisation all raised; the first traceback is in the message."""


class MissingExtra(OutcropError, ImportError):
    """An optional part of Outcrop is not installed."""
