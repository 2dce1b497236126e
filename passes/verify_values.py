"""Check the contract of value identity: an op computes the source value that it is named after."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..dialects import tri
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.interface import returned
from ..dialects.core.interpret import run
from ..dialects.core.location import describe, value_names
from ..dialects.core.module import Module, declared, functions, ops
from ..dialects.core.op import Op
from ..dialects.core.tensor import Array, dtype_of
from .core import Pass

Values = Mapping[str, Array]
"""Arrays by the names of the source values that they are."""

TOLERANCE = {"f64": 1e-9, "f32": 2e-4, "f16": 2e-2, "bf16": 1e-1}
"""How far, relative to the largest number of a value, rewrites may move its numbers."""


class VerifyValues(Pass):
    """Check that no two ops claim to compute the same source value, and that outputs are kept.

    Changes nothing; raises CompileError with all that is wrong.

    %a = tri.relu %x loc("n"("v")); %b = tri.exp %a loc("m"("v"))   =>   error: claims value 'v'
    """

    def run(self, module: Module) -> None:
        faults = [*_claimed_twice(module), *_lost_outputs(module)]
        if faults:
            raise CompileError(faults)


class ValuesDiffer(AssertionError):
    """Report the pass that changed the numbers of a source value, and by how much."""


def run_checked(module: Module, passes: Sequence[Pass], inputs: Sequence[Array]) -> None:
    """Run passes, and after each compare all values that keep their names with those before.

    Values are computed by the interpreter from `inputs`. Raises ValuesDiffer for the first pass
    that changes a value, and CompileError for one that leaves IR that is not valid.
    """
    expected = record_values(module, inputs)
    text = _text(module)
    for step in passes:
        step.run(module)
        before, text = text, _text(module)
        if text == before:
            continue
        module.verify()
        VerifyValues().run(module)
        try:
            check_values(expected, module, inputs)
        except ValuesDiffer as error:
            raise ValuesDiffer(f"after {step}: {error}") from None


def _text(module: Module) -> str:
    return module.operation.get_asm(enable_debug_info=True)


def record_values(module: Module, inputs: Sequence[Array]) -> dict[str, Array]:
    """Execute the module and return the value of each op that has a name, and each output."""
    values: dict[str, Array] = {}

    def observe(op: Op, results: tuple[Array, ...]) -> None:
        values.update(zip(value_names(op.location), results, strict=False))
        values.pop("", None)

    results = run(module, inputs, observe)
    names = declared(module.main, "outputs", len(results))
    return values | {f"output '{name}'": y for name, y in zip(names, results, strict=True)}


def check_values(expected: Values, module: Module, inputs: Sequence[Array]) -> None:
    """Raise ValuesDiffer for the first value of the module that is not as expected."""
    for name, array in record_values(module, inputs).items():
        if name in expected and (fault := difference(expected[name], array)):
            raise ValuesDiffer(f"value {name} {fault}")


def difference(expected: Array, array: Array) -> str:
    """Return how an array differs from the expected one beyond rounding, or an empty string."""
    if expected.shape != array.shape or expected.dtype != array.dtype:
        return f"is {array.dtype}{array.shape}, was {expected.dtype}{expected.shape}"
    tolerance = TOLERANCE.get(dtype_of(expected.dtype), 0)
    a, b = (np.asarray(x, np.float64) for x in (expected, array))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return ""
    scale = np.abs(a[np.isfinite(a)]).max(initial=0)
    with np.errstate(invalid="ignore"):
        off = np.where(same, 0, np.abs(a - b))
    if np.isnan(off).any():
        return f"has {np.isnan(off).sum()} NaN or infinities that are new, or are gone"
    worst = off.max() / scale if scale else np.inf
    return f"is off by {worst:.1e} of its largest number" if worst > tolerance else ""


def _claimed_twice(module: Module) -> list[Diagnostic]:
    first: dict[str, Op] = {}
    faults: list[Diagnostic] = []
    for op in ops(module.operation):
        for name in filter(None, value_names(op.location)):  # outputs nobody wants have no name
            other = first.setdefault(name, op)
            if other is not op and not _yields(other, op):
                message = f"'{op.op_name}' op claims value '{name}', as '{other.op_name}' does"
                faults.append(Diagnostic(describe(op.location), message))
    return faults


def _yields(group: Op, op: Op) -> bool:
    """Return whether a group's value is that of an op in it, or the op is the one that ends it."""
    if not isinstance(group, tri.Group) or op.operation.parent != group.operation:
        return False
    if isinstance(op, tri.Yield):
        return True
    return any(result in list(group.end.operands) for result in op.results)


def _lost_outputs(module: Module) -> list[Diagnostic]:
    faults: list[Diagnostic] = []
    for function in functions(module.operation):
        count = len(returned(function))
        names = declared(function, "outputs", count)
        if len(names) != count:
            listed = ", ".join(names)
            message = f"'func.func' op returns {count} values, must return {listed}"
            faults.append(Diagnostic(describe(function.location), message))
    return faults
