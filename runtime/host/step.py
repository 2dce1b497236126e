"""Steps that numpy computes: the reference kernel of an op, between buffers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..contents import ABSENT, Contents
from ..errors import PackageError, RunError
from ..kinds import LEFT_OUT
from ..loader import Loader
from ..schema import Attribute
from ..sizes.fields import with_sizes
from ..sizes.size_expressions import Size
from ..state import SessionState
from ..step import SHAPE, Bind, Run, Step, Store

ALONE = -1
"""The group of an operand that is passed by itself, not in a list."""

OP_NAME = re.compile(r"[a-z_]+\.[a-z][a-z0-9_]*")

Reference = Callable[..., Any]


class HostOp(Protocol):
    """Compute an op in numpy."""

    @property
    def reference(self) -> Reference:
        """Return the function that computes the results from the operands."""
        ...


# The ops of a dialect by full name, `tri.topk`: each is called with the attributes by name.
Ops = Mapping[str, Callable[..., HostOp]]


def find_reference(step: "HostStep", dialects: Mapping[str, Ops]) -> Reference:
    """Return the kernel of a step's op, from `dialects` or else from the installed dialect.

    Raises RunError where the dialect, the op, or one of its attributes is missing.
    """
    dialect = step.op.partition(".")[0]
    try:
        ops = dialects[dialect] if dialect in dialects else _installed(dialect)
    except ModuleNotFoundError as error:
        raise _missing(step, f"module '{error.name}' is not installed") from None
    if step.op not in ops:
        raise _missing(step, f"dialect '{dialect}' has no such op")
    try:
        return ops[step.op](**step.attributes).reference
    except TypeError as error:
        raise _missing(step, str(error)) from None


def _installed(dialect: str) -> Ops:
    module = import_module(f"...dialects.{dialect}", __package__)
    return cast("Ops", getattr(module, "OPS", {}))


def _missing(step: "HostStep", reason: str) -> RunError:
    return RunError(
        f"nodes {', '.join(step.nodes) or '(none)'} need '{step.op}' on the host, but {reason}: "
        "install what compiled the package"
    )


@dataclass(frozen=True, kw_only=True)
class HostStep(Step):
    """Call the reference kernel of `op` with `attributes`.

    `sizes` are attributes that depend on symbols: a size, or a list of sizes.
    `groups` divides operands: `ALONE` for one by itself, a count for that many in one list.
    Without it, each operand is passed by itself.
    """

    kind: ClassVar[str] = "host"
    at_load: ClassVar[bool] = True
    finds_sizes: ClassVar[bool] = True

    op: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    groups: tuple[int, ...] = ()
    sizes: Mapping[str, Size | tuple[Size, ...]] = field(
        default_factory=dict[str, "Size | tuple[Size, ...]"], metadata=LEFT_OUT
    )

    def check(self, contents: Contents, where: str) -> None:
        if not OP_NAME.fullmatch(self.op):
            raise PackageError(f"'{where}.op' is '{self.op}', must look like 'dialect.op'")
        wanted = sum(1 if n == ALONE else n for n in self.groups)
        if self.groups and (min(self.groups) < ALONE or wanted != len(self.operands)):
            raise PackageError(
                f"'{where}.groups' is {list(self.groups)}, must divide {len(self.operands)} "
                "operands"
            )
        if twice := sorted(self.sizes.keys() & self.attributes.keys()):
            raise PackageError(f"'{where}.sizes' has '{twice[0]}', as has 'attributes'")
        super().check(contents, where)

    def load(self, loader: Loader) -> Bind:
        dialects = loader.options.get("dialects", {})
        if self.sizes or self.finds:
            return lambda state: self._at(state, dialects)
        reference = find_reference(self, dialects)
        return lambda state: partial(_run, self, reference, state)

    def _at(self, state: SessionState, dialects: Mapping[str, Ops]) -> Run:
        numbers = with_sizes(self, state.values)
        step = replace(numbers, attributes={**self.attributes, **numbers.sizes})
        reference = find_reference(step, dialects)
        if self.finds:
            return cast("Run", partial(_find, step, reference, state))
        return partial(_run, step, reference, state)

    def operation(self, contents: Contents) -> str:
        return self.op

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"{len(steps)} op{'s' * (len(steps) != 1)} on the host"


def _run(step: "HostStep", reference: Reference, state: SessionState) -> None:
    _store_all(step, _compute(step, reference, state), state)


def _find(
    step: "HostStep", reference: Reference, state: SessionState
) -> tuple[dict[str, int], Store]:
    """Compute results, and return the sizes that are found in them."""
    results = _compute(step, reference, state)
    sizes: dict[str, int] = {}
    for each in step.finds:
        found = results[each.result]
        where = found.shape if each.of == SHAPE else found.reshape(-1)
        sizes[each.symbol] = int(where[each.index])
    return sizes, lambda state: _store_all(step, results, state)


def _compute(step: "HostStep", reference: Reference, state: SessionState) -> list[NDArray[Any]]:
    operands = [None if i == ABSENT else state.read(i) for i in step.operands]
    for operand in operands:
        if operand is not None:
            operand.flags.writeable = False
    try:
        values = reference(*_grouped(operands, step.groups))
    except Exception as error:
        error.add_note(f"in host step '{step.op}' of {', '.join(step.nodes)}")
        raise
    results = cast("tuple[Any, ...]", values) if isinstance(values, tuple | list) else (values,)
    if len(results) != len(step.results):
        raise RunError(
            f"host step '{step.op}' of {', '.join(step.nodes)} gave {len(results)} results, "
            f"must give {len(step.results)}"
        )
    return [np.asarray(value) for value in results]


def _store_all(step: "HostStep", values: Sequence[NDArray[Any]], state: SessionState) -> None:
    for i, value in zip(step.results, values, strict=True):
        _store(step, state.bases.view(i), state.stored(i, value))


def _grouped(operands: list[NDArray[Any] | None], groups: tuple[int, ...]) -> list[Any]:
    if not groups:
        return list(operands)
    rest = iter(operands)
    return [next(rest) if n == ALONE else [next(rest) for _ in range(n)] for n in groups]


def _store(step: "HostStep", target: NDArray[Any], value: NDArray[Any]) -> None:
    if (value.shape, value.dtype) != (target.shape, target.dtype):
        raise RunError(
            f"host step '{step.op}' of {', '.join(step.nodes)} gave {value.dtype}"
            f"{list(value.shape)}, must give {target.dtype}{list(target.shape)}"
        )
    np.copyto(target, value)
