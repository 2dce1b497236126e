"""Run steps no target took: the numpy reference kernel of an op, between buffers."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .errors import RunError
from .manifest import ABSENT, ALONE, Step
from .memory import Bases

Reference = Callable[..., Any]


class HostOp(Protocol):
    """Compute an op in numpy."""

    @property
    def reference(self) -> Reference:
        """Return the function that computes the results from the operands."""
        ...


# The ops of a dialect by full name, `tri.topk`: each is called with the attributes by name.
Ops = Mapping[str, Callable[..., HostOp]]


def find_reference(step: Step, dialects: Mapping[str, Ops]) -> Reference:
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
    module = import_module(f"..dialects.{dialect}", __package__)
    return cast("Ops", getattr(module, "OPS", {}))


def _missing(step: Step, reason: str) -> RunError:
    return RunError(
        f"nodes {', '.join(step.nodes) or '(none)'} need '{step.op}' on the host, but {reason}: "
        "install what compiled the package"
    )


def bind(step: Step, reference: Reference, bases: Bases) -> Callable[[], None]:
    """Return the function that does `step` on `bases`."""
    return partial(_run, step, reference, bases)


def _run(step: Step, reference: Reference, bases: Bases) -> None:
    operands = [None if i == ABSENT else bases.view(i) for i in step.operands]
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
    for i, value in zip(step.results, results, strict=True):
        _store(step, bases.view(i), np.asarray(value))


def _grouped(operands: list[NDArray[Any] | None], groups: tuple[int, ...]) -> list[Any]:
    if not groups:
        return list(operands)
    rest = iter(operands)
    return [next(rest) if n == ALONE else [next(rest) for _ in range(n)] for n in groups]


def _store(step: Step, target: NDArray[Any], value: NDArray[Any]) -> None:
    if (value.shape, value.dtype) != (target.shape, target.dtype):
        raise RunError(
            f"host step '{step.op}' of {', '.join(step.nodes)} gave {value.dtype}"
            f"{list(value.shape)}, must give {target.dtype}{list(target.shape)}"
        )
    np.copyto(target, value)
