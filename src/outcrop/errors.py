"""Every exception Outcrop raises on purpose.

    OutcropError
    ├── SpaceError(ValueError)        a search space or parameter was declared wrongly
    ├── ParamsError(ValueError)       given parameters do not fit the space
    ├── NoSuchParameter(KeyError)     a key that no active parameter has, or several have
    ├── ShapeError(ValueError)        arrays whose shapes do not match
    ├── ModelError(ValueError)        a kernel, prior or model with invalid arguments
    ├── BanditError(ValueError)       an invalid bandit, state of one, or reward
    ├── NumericalError(ArithmeticError)   a computation failed despite every remedy
    ├── MethodError(ValueError)       an unknown or unsuitable method, direction or option
    ├── TrialError(ValueError)        an unknown or finished trial, or an invalid value
    ├── StudyError(ValueError)        a study that is missing, deleted or different
    ├── StorageError(OSError)         a store that cannot be opened, read or written
    │   └── StorageDamaged            whose files were removed, replaced or shortened in use
    ├── ObjectiveError(TypeError)     an objective that cannot be called, or that has a mistake
    ├── SpaceExhausted(RuntimeError)  every legal configuration was tried
    ├── TotalReached(RuntimeError)    the study has as many trials as the caller allows
    ├── NoBelief(RuntimeError)        a belief was requested before the first value
    ├── AllTrialsFailed(RuntimeError) many trials in a row raised, and none ever succeeded
    └── MissingExtra(ImportError)     an optional part is not installed

Each also derives from the matching built-in error. A message states what was expected, what was
given, and what to do.
"""

from __future__ import annotations

__all__ = [
    "AllTrialsFailed",
    "BanditError",
    "MethodError",
    "MissingExtra",
    "ModelError",
    "NoBelief",
    "NoSuchParameter",
    "NumericalError",
    "ObjectiveError",
    "OutcropError",
    "ParamsError",
    "ShapeError",
    "SpaceError",
    "SpaceExhausted",
    "StorageDamaged",
    "StorageError",
    "StudyError",
    "TotalReached",
    "TrialError",
]


class OutcropError(Exception):
    """Base class of all exceptions that Outcrop raises on purpose."""


class SpaceError(OutcropError, ValueError):
    """A search space or one of its parameters was declared wrongly."""


class ParamsError(OutcropError, ValueError):
    """Given parameters do not fit the space: unknown, missing, inactive or illegal."""


class NoSuchParameter(OutcropError, KeyError):
    """A key that no active parameter has, or a short name that several have."""

    __str__ = Exception.__str__  # that of KeyError shows the message in quotes


class ShapeError(OutcropError, ValueError):
    """Arrays whose shapes do not match."""


class ModelError(OutcropError, ValueError):
    """A kernel, prior or model with invalid arguments."""


class BanditError(OutcropError, ValueError):
    """An invalid option, arm, state or reward of a bandit."""


class NumericalError(OutcropError, ArithmeticError):
    """A computation failed, with every documented remedy tried."""


class MethodError(OutcropError, ValueError):
    """A method, direction or option that does not exist or does not fit the space."""


class TrialError(OutcropError, ValueError):
    """An unknown or finished trial, or an invalid value for one."""


class StudyError(OutcropError, ValueError):
    """A study that is missing, deleted, or differs from the stored one."""


class StorageError(OutcropError, OSError):
    """A store that cannot be opened, read or written, or that a newer release made."""


class StorageDamaged(StorageError):
    """Files of a store were removed, replaced or shortened while it was in use.

    Nothing more is acknowledged. `Study.copy_to` saves what can still be read.
    """

    stored = False  # whether all that was acknowledged is in the store at its place
    copy: str | None = None  # otherwise, a file with what the process could still read


class ObjectiveError(OutcropError, TypeError):
    """An objective that cannot be called in the process that runs it, or that has a mistake.

    One that raises it itself ends the run, and its trial is given back.
    """


class SpaceExhausted(OutcropError, RuntimeError):
    """Every legal configuration was tried, and repeating one is not worthwhile."""


class TotalReached(OutcropError, RuntimeError):
    """The study has as many trials as `ask(total=)` allows, those of other processes included."""


class NoBelief(OutcropError, RuntimeError):
    """A belief was requested before the first value was told."""


class AllTrialsFailed(OutcropError, RuntimeError):
    """Many trials in a row raised, and none ever succeeded; the message has the first traceback."""


class MissingExtra(OutcropError, ImportError):
    """An optional part of Outcrop is not installed."""
