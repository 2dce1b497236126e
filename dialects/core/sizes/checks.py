"""Requirements on sizes: decided now, or checked when the sizes of a run are known.

`need` and its like return silently where a requirement holds for all sizes, and raise Invalid
where it holds for none. Otherwise the requirement becomes a `Check`, which the nearest
`collected_checks` collects; without one, as in the verifier, somebody has collected it before.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ..errors import Invalid, Undecided
from .atoms import Size, is_symbolic
from .dim import highest, lowest, symbols_of
from .limits import at_least, is_same


@dataclass(frozen=True)
class Check:
    """Require an expression of symbols to be `==` 0 or `>=` 0.

    `message` says what is wrong where it is not, and `node` where. Raises ValueError for another
    relation.
    """

    expression: Size
    relation: str
    message: str
    node: str = ""

    def __post_init__(self) -> None:
        if self.relation not in ("==", ">="):
            raise ValueError(f"relation '{self.relation}' must be == or >=")


_COLLECTED: ContextVar[dict[Check, None] | None] = ContextVar("checks", default=None)


@contextmanager
def collected_checks() -> Generator[dict[Check, None]]:
    """Collect the checks that the block makes, in order, each once."""
    checks: dict[Check, None] = {}
    token = _COLLECTED.set(checks)
    try:
        yield checks
    finally:
        _COLLECTED.reset(token)


def need(size: Size, least: Size, message: str) -> None:
    """Require `size >= least`; `message` says what is wrong where it is not."""
    if not (answer := at_least(size, least)):
        _require(answer, size - least, ">=", message)


def need_same(size: Size, other: Size, message: str) -> None:
    """Require two sizes to be equal; `message` says what is wrong where they are not."""
    if not (answer := is_same(size, other)):
        _require(answer, size - other, "==", message)


def need_divides(size: Size, divisor: Size, message: str) -> None:
    """Require `size` to be a multiple of a positive `divisor`; `message` says what is wrong."""
    need(divisor, 1, message)
    need_same(size % highest(divisor, 1), 0, message)


def need_if_any(count: Size, size: Size, least: Size, message: str) -> None:
    """Require `size >= least` unless `count`, which is not negative, is 0."""
    if not at_least(size, least):
        need(lowest(count, 1) * (size - least), 0, message)


def need_same_shape(shape: Sequence[Size], other: Sequence[Size], message: str) -> None:
    """Require two shapes to be equal; `message` says what is wrong where they are not."""
    if len(shape) != len(other):
        raise Invalid(message)
    for size, wanted in zip(shape, other, strict=True):
        need_same(size, wanted, message)


def need_static(size: Size, what: str) -> int:
    """Return a size that must be known at compile time; raise Undecided for another one."""
    if is_symbolic(size):
        names = ", ".join(symbols_of(size))
        raise Undecided(f"{what} is {size}, must be known at compile time: bind {names}")
    return size


def _require(answer: bool | None, expression: Size, relation: str, message: str) -> None:
    """Raise Invalid for an answer of False; collect the check of one that depends on a run."""
    if answer is False:
        raise Invalid(message)
    checks = _COLLECTED.get()
    if checks is not None:
        checks[Check(expression, relation, message)] = None
