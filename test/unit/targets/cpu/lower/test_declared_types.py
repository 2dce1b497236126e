"""What kernels declare about element types is what they compute, and all else is refused.

Ops are examples, drawn once, with their main operands in one type after the other. Kernels with the
declaration of the table are compiled for drawn types in `test_lowerings.py`: here are those with
one of their own, for every type.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from cases import CASES
from closeness import assert_close, defined
from cpu_kernels import compile_cases
from groups import Case, build_group, op_of, release
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid, Unsupported
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import COMPUTED, DTYPES, Tensor, dtype_of, numpy_dtype
from trivium.targets.cpu import TARGET
from trivium.targets.cpu.registry import TABLE

TYPES = (*COMPUTED, "f8E4M3FN", "i4")
"""What is tried: all types with arithmetic, a narrow float and a narrow integer."""

OWN = [op for op in CASES.examples if TABLE.declared[op] is not TABLE.types]


def _typed(case: Case, dtype: str) -> Case:
    """Return a case with small numbers of a type where it has those of its first operand's."""
    main = case.inputs[0].dtype if case.inputs else None

    def convert(operand: Any) -> Any:
        if isinstance(operand, list):
            return [convert(each) for each in operand]
        if operand is None or operand.dtype != main:
            return operand
        numbers = np.nan_to_num(operand.astype(np.float32), posinf=2, neginf=1).clip(0, 2)
        return numbers.round().astype(numpy_dtype(dtype))

    return Case(dtype, case.cls, tuple(map(convert, case.operands)), case.attributes)


@cache
def _judged(op: type[Op]) -> tuple[list[Case], dict[str, str]]:
    """Return the cases of an op that the target takes, and its refusals by type.

    Types that the op itself does not take are in neither.
    """
    (example,) = CASES.of(op, 1)
    taken: list[Case] = []
    refused: dict[str, str] = {}
    for dtype in TYPES:
        case = _typed(example, dtype)
        with new_context(), ir.Location.unknown():
            try:
                refusal = TARGET.refusal(op_of(build_group(case)))
            except (Invalid, Unsupported):
                continue
            finally:
                release()
        if refusal is None:
            taken.append(case)
        else:
            refused[dtype] = refusal
    return taken, refused


def _fields(case: Case) -> Sequence[tuple[str, str]]:
    """List the operands of a case by name, with their element types."""
    pairs = zip(case.cls.fields.operands, case.operands, strict=True)
    flat = [(f.name, o if isinstance(o, list) else [o]) for f, o in pairs if o is not None]
    return [(name, dtype_of(each.dtype)) for name, group in flat for each in group]


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in CASES.examples])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_types_that_are_not_declared_are_refused(op: type[Op]) -> None:
    taken, refused = _judged(op)
    assert taken, "the target takes no type of it"
    declared = TABLE.declared[op]
    for case in taken:
        assert all(dtype in declared.of(name) for name, dtype in _fields(case))
    for dtype, refusal in refused.items():
        if dtype not in declared.every:
            assert refusal.startswith(f"cpu has no kernels of {op.op_name} on {dtype}")


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in OWN])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_types_that_are_declared_are_computed(op: type[Op]) -> None:
    cases, _ = _judged(op)
    compiled = compile_cases(cases)
    for index, case in enumerate(cases):
        wanted = case.reference()
        made = compiled.run(index, case.inputs, [Tensor.of(y) for y in wanted])
        for got, want in zip(made, wanted, strict=True):
            seen = defined(case, want)
            assert_close(case, got[seen], want[seen], case.inputs)


def test_every_type_is_tried_somewhere() -> None:
    tried = {case.name for op in OWN for case in _judged(op)[0]}
    assert tried == set(TYPES)
    assert _judged(tri.Conv)[1].keys() >= {"i1", "i4"}
    assert set(TYPES) <= set(DTYPES)
