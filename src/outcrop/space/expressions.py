"""The language of constraints: `x1 + x2 <= 1`, `model == 'mlp' or lr < 0.1`.

    condition    comparisons, joined by `and` and `or`, negated by `not`, grouped by parentheses
    comparison   two terms, or more as in `0 <= a - b <= 1`, with <= < >= > == !=
    term         flat names, numbers, + - * / and parentheses

A name that is not made of letters, digits, `_` and dots is put in backquotes: `` `max depth` ``.
Categories, options and levels that are not numbers are compared by == and != with a string in
quotes, True, False, None, a number, or another such parameter. Nothing else is understood, and
nothing is executed: a text becomes a `Condition`, or a `SpaceError` that names the place.
"""

from __future__ import annotations

__all__ = ["parsed"]

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias, TypeVar

from outcrop.errors import SpaceError
from outcrop.space.conditions import (
    Alike,
    All,
    Among,
    Any,
    Comparison,
    Condition,
    Name,
    Number,
    Product,
    Sum,
    Term,
    negated,
)
from outcrop.space.discrete import Categorical, Choice, Fixed, Ordinal
from outcrop.space.parameters import Parameter
from outcrop.space.plain import Plain, find, listed, mark, nearest, positions

T = TypeVar("T")

LONGEST = 2000  # characters
DEEPEST = 40  # parentheses, negations and signs inside each other

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])"
    r"|(?P<quoted>`[^`]+`)"
    r"|(?P<name>[^\W\d]\w*(?:\.\w+)*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<sign><=|>=|==|!=|<|>|[-+*/()](?![*/]))"
    r"|(?P<end>$))"
)
COMPARISONS = ("<=", "<", ">=", ">", "==", "!=")
LITERALS: dict[str, Plain] = {"True": True, "False": False, "None": None}
INSTEAD = {  # of signs from other languages
    "=": "==",
    "&": "and",
    "|": "or",
    "!": "not, or != between two values",
    "^": "x * x for a square",
    "**": "x * x for a square",
    "//": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
}


class Token(NamedTuple):
    kind: str
    text: str
    at: int  # position in the text


class Category(NamedTuple):
    """A discrete parameter whose values are not all numbers, before it is compared."""

    name: str
    values: tuple[Plain, ...]


class Literal(NamedTuple):
    """A string, a boolean or None, before it is compared."""

    value: Plain


Part: TypeAlias = Term | Condition | Category | Literal


def parsed(text: str, parameters: Mapping[str, Parameter]) -> Condition:
    """The condition that a text states on parameters, given by flat names."""
    return _Parser(text, parameters).read()


def values_of(parameter: Parameter) -> tuple[Plain, ...] | None:
    """The listed values of a parameter; None if it is declared by bounds."""
    match parameter:
        case Categorical(choices):
            return tuple(choices)
        case Ordinal(values):
            return tuple(values)
        case Fixed(value):
            return (value,)
        case Choice():
            return parameter.names
    return None


class _Parser:
    """Recursive descent through one text."""

    def __init__(self, text: str, parameters: Mapping[str, Parameter]) -> None:
        self.text = text
        self.parameters = parameters
        if len(text) > LONGEST:
            raise SpaceError(
                f"the constraint {text[:40]!r}… has {len(text)} characters, at most {LONGEST} are "
                "read; state it as several constraints"
            )
        self.tokens = self._tokens()
        self.next = 0
        self.depth = 0

    def read(self) -> Condition:
        condition = self._condition(self._either())
        if self._seen().kind != "end":
            raise self._error("expected `and`, `or` or the end here")
        return condition

    # Tokens

    def _tokens(self) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        while not tokens or tokens[-1].kind != "end":
            match = TOKEN.match(self.text, at)
            if match is None or match.lastgroup is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                rest = self.text[at:]
                strange = next((sign for sign in ("**", "//") if rest.startswith(sign)), rest[0])
                hint = f"; write {INSTEAD[strange]}" if strange in INSTEAD else ""
                quotes = "; a quote is not closed" if strange in "'\"`" else ""
                number = "; a name begins with a letter" if strange[0].isdigit() else ""
                raise self._error(f"cannot read {strange!r} here{hint}{quotes}{number}", at)
            kind = match.lastgroup
            tokens.append(Token(kind, match[kind], match.start(kind)))
            at = match.end()
        return tokens

    def _seen(self) -> Token:
        """The next token, which is not taken."""
        return self.tokens[self.next]

    def _takes(self, *texts: str) -> Token | None:
        """The next token if it is one of these signs or words."""
        token = self.tokens[self.next]
        if token.kind in ("sign", "name") and token.text in texts:
            self.next += 1
            return token
        return None

    def _error(self, what: str, at: int | None = None) -> SpaceError:
        place = self._seen().at if at is None else at
        return SpaceError(f"the constraint {self.text!r}, character {place + 1}: {what}")

    # Grammar, from what binds least to what binds most

    def _either(self) -> Part:
        return self._joined("or", self._both, Any)

    def _both(self) -> Part:
        return self._joined("and", self._negation, All)

    def _joined(
        self,
        word: str,
        inner: Callable[[], Part],
        made: Callable[[tuple[Condition, ...]], Condition],
    ) -> Part:
        first, at = inner(), self._seen().at
        parts = []
        while self._takes(word):
            parts.append(self._condition(inner()))
        return made((self._condition(first, at), *parts)) if parts else first

    def _negation(self) -> Part:
        if self._takes("not"):
            return self._deeper(lambda: negated(self._condition(self._negation())))
        return self._comparison()

    def _comparison(self) -> Part:
        left, parts = self._sum(), list[Condition]()
        while sign := self._takes(*COMPARISONS):
            right = self._sum()
            parts.append(self._compared(left, sign, right))
            left = right
        if not parts:
            return left
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _sum(self) -> Part:
        first = self._product()
        others = list[tuple[int, Term]]()
        while sign := self._takes("+", "-"):
            first = self._term(first, sign.at)
            others.append((1 if sign.text == "+" else -1, self._term(self._product(), sign.at)))
        return Sum(((1, self._term(first)), *others)) if others else first

    def _product(self) -> Part:
        first = self._signed()
        others = list[tuple[bool, Term]]()
        while sign := self._takes("*", "/"):
            first = self._term(first, sign.at)
            others.append((sign.text == "/", self._term(self._signed(), sign.at)))
        return Product(self._term(first), tuple(others)) if others else first

    def _signed(self) -> Part:
        sign = self._takes("-", "+")
        if sign is None:
            return self._atom()
        term = self._deeper(lambda: self._term(self._signed(), sign.at))
        if sign.text == "+":
            return term
        return Number(-term.value) if isinstance(term, Number) else Sum(((-1, term),))

    def _atom(self) -> Part:
        token = self._seen()
        if self._takes("("):
            inner = self._deeper(self._either)
            if not self._takes(")"):
                raise self._error("expected ) here")
            return inner
        self.next += 1
        match token.kind:
            case "number":
                value = float(token.text)
                if math.isfinite(value):
                    return Number(value)
                raise self._error(f"{token.text} is not a finite number", token.at)
            case "text":
                return Literal(token.text[1:-1])
            case "quoted":
                return self._named(token.text[1:-1], token.at)
            case "name" if token.text in LITERALS:
                return Literal(LITERALS[token.text])
            case "name" if token.text not in ("and", "or", "not"):
                return self._named(token.text, token.at)
        self.next -= 1
        found = "the end" if token.kind == "end" else repr(token.text)
        raise self._error(f"expected a name, a number or a string, got {found}")

    def _deeper(self, read: Callable[[], T]) -> T:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._error(f"more than {DEEPEST} levels inside each other; state it more simply")
        found = read()
        self.depth -= 1
        return found

    # Meaning

    def _named(self, name: str, at: int) -> Part:
        parameter = self.parameters.get(name)
        if parameter is None:
            hint = nearest(name, self.parameters) or f"; expected {listed([*self.parameters])}"
            raise self._error(f"{name!r} is not a parameter of the space{hint}", at)
        values = values_of(parameter)
        if values is None or all(type(value) in (int, float) for value in values):
            return Name(name)
        return Category(name, values)

    def _condition(self, part: Part, at: int | None = None) -> Condition:
        if isinstance(part, Condition):
            return part
        raise self._error("expected a comparison, such as x1 + x2 <= 1", at)

    def _term(self, part: Part, at: int | None = None) -> Term:
        match part:
            case Term():
                return part
            case Category(name, values):
                raise self._error(
                    f"{name!r} is one of {listed(values)}, so it can only be compared, by == or !=",
                    at,
                )
            case Literal(value):
                raise self._error(f"{value!r} is not a number", at)
        raise self._error("expected a number, got a comparison", at)

    def _compared(self, left: Part, sign: Token, right: Part) -> Condition:
        if not isinstance(left, Category | Literal) and not isinstance(right, Category | Literal):
            return Comparison(self._term(left, sign.at), sign.text, self._term(right))
        if sign.text not in ("==", "!="):
            raise self._error("values that are not numbers have no order; use == or !=", sign.at)
        equal = self._equal(left, right, sign)
        return equal if sign.text == "==" else negated(equal)

    def _equal(self, left: Part, right: Part, sign: Token) -> Condition:
        """The condition that a category has a value, or the value of another one."""
        if not isinstance(left, Category):
            left, right = right, left
        if isinstance(left, Literal) and isinstance(right, Name):
            left, right = Category(right.name, self._numbers_of(right.name, left, sign)), left
        if not isinstance(left, Category):
            raise self._error("expected a name on one side, to compare with this value", sign.at)
        match right:
            case Literal(value) | Number(value):
                index = find(left.values, positions(left.values), value)
                if index is None:
                    names = [each for each in left.values if isinstance(each, str)]
                    hint = nearest(value, names) or f"; expected one of {listed(left.values)}"
                    raise self._error(f"{left.name!r} is never {value!r}{hint}", sign.at)
                return Among(left.name, tuple(i == index for i in range(len(left.values))))
            case Name(name):
                right = Category(name, self._numbers_of(name, left, sign))
        if not isinstance(right, Category):
            raise self._error(
                f"{left.name!r} is one of {listed(left.values)}; compare it with one of them, or "
                "with another parameter",
                sign.at,
            )
        marks = [mark(value) for value in right.values]
        rows = tuple(tuple(mark(value) == other for other in marks) for value in left.values)
        return Alike(left.name, right.name, rows)

    def _numbers_of(self, name: str, other: Part, sign: Token) -> tuple[Plain, ...]:
        """The listed numbers of a parameter that is compared with something else than a number."""
        values = values_of(self.parameters[name])
        if values is None:
            what = repr(other.value) if isinstance(other, Literal) else "a category"
            raise self._error(
                f"{name!r} is a number, which cannot be compared with {what}", sign.at
            )
        return values
