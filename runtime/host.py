"""Run steps no target took: the numpy reference kernel of an op, between buffers."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .errors import RunError
from .manifest import ABSENT, Step
from .memory import Bases

Reference = Callable[..., Any]


class HostOp(Protocol):
    """Compute an op in numpy: operands by position, attributes by name."""

    @property
    def reference(self) -> Reference:
        """Return the function that computes the op."""
        ...


# The ops of a dialect by full name, `tri.topk`.
Ops = Mapping[str, HostOp]


def find_reference(op: str, nodes: tuple[str, ...], dialects: Mapping[str, Ops]) -> Reference:
    """Return the kernel of `op`, from `dialects` or else from the installed dialect."""
    dialect = op.partition(".")[0]
    ops = dialects[dialect] if dialect in dialects else _installed(dialect)
    if ops is None or op not in ops:
        known = "that dialect is not installed" if ops is None else "its dialect lacks that op"
        raise RunError(
            f"nodes {', '.join(nodes) or '(none)'} need '{op}' on the host, but {known}: "
            "install the version that compiled the package"
        )
    return ops[op].reference


def _installed(dialect: str) -> Ops | None:
    name = f"..dialects.{dialect}"
    try:
        module = import_module(name, __package__)
    except ModuleNotFoundError as error:
        # A dialect that misses something else is broken, not absent.
        if error.name is None or not re.search(rf"dialects(\.{dialect})?$", error.name):
            raise
        return None
    return cast("Ops | None", getattr(module, "OPS", None))


def bind(step: Step, reference: Reference, bases: Bases) -> Callable[[], None]:
    """Return the function that does `step` on `bases`."""
    return partial(_run, step, reference, bases)


def _run(step: Step, reference: Reference, bases: Bases) -> None:
    operands = [None if i == ABSENT else bases.view(i) for i in step.operands]
    for operand in operands:
        if operand is not None:
            operand.flags.writeable = False
    try:
        values = reference(*operands, **step.attributes)
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


def _store(step: Step, target: NDArray[Any], value: NDArray[Any]) -> None:
    if (value.shape, value.dtype) != (target.shape, target.dtype):
        raise RunError(
            f"host step '{step.op}' of {', '.join(step.nodes)} gave {value.dtype}"
            f"{list(value.shape)}, must give {target.dtype}{list(target.shape)}"
        )
    np.copyto(target, value)
