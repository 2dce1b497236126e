"""Requirements on sizes: decided now, or checked when the sizes of a run are known.

`need` and `need_same` return silently where a requirement holds for all sizes, and raise Invalid
where it holds for none. Otherwise the requirement becomes a `Check`, which the nearest
`collected_checks` collects; without one, as in the verifier, somebody has collected it before.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ..errors import Invalid
from .atoms import Size
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
    _require(at_least(size, least), size - least, ">=", message)


def need_same(size: Size, other: Size, message: str) -> None:
    """Require two sizes to be equal; `message` says what is wrong where they are not."""
    _require(is_same(size, other), size - other, "==", message)


def need_divides(size: Size, divisor: Size, message: str) -> None:
    """Require `size` to be a multiple of `divisor`; `message` says what is wrong otherwise."""
    need_same(size % divisor, 0, message)


def _require(answer: bool | None, expression: Size, relation: str, message: str) -> None:
    if answer:
        return
    if answer is False:
        raise Invalid(message)
    checks = _COLLECTED.get()
    if checks is not None:
        checks[Check(expression, relation, message)] = None
