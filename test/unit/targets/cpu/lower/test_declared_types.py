"""What kernels declare about element types is what they compute, and all else is refused.

Ops are examples, drawn once, with their main operands in one type after the other. Kernels with the
declaration of the table are compiled for drawn types in `test_lowerings.py`: here are those with
one of their own, for every type.
"""

import pytest
from cases import CASES
from closeness import assert_close, defined
from cpu_kernels import compile_cases
from trivium.dialects import tri
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Tensor
from trivium.targets.cpu.registry import TABLE
from typed_cases import TYPES, fields, judged

OWN = [op for op in CASES.examples if TABLE.declared[op] != (TABLE.types,)]


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in CASES.examples])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_types_that_are_not_declared_are_refused(op: type[Op]) -> None:
    taken, refused = judged(op, CASES)
    assert taken, "the target takes no type of it"
    declared = TABLE.declared[op]
    for case in taken:
        assert any(all(d in each.of(name) for name, d in fields(case)) for each in declared)
    for dtype, refusal in refused.items():
        if not any(dtype in each.every for each in declared):
            assert refusal.startswith(f"cpu has no kernels of {op.op_name} on {dtype}")


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in OWN])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_types_that_are_declared_are_computed(op: type[Op]) -> None:
    cases, _ = judged(op, CASES)
    compiled = compile_cases(cases)
    for index, case in enumerate(cases):
        wanted = case.reference()
        made = compiled.run(index, case.inputs, [Tensor.of(y) for y in wanted])
        for got, want in zip(made, wanted, strict=True):
            seen = defined(case, want)
            assert_close(case, got[seen], want[seen], case.inputs)


def test_every_type_is_tried_somewhere() -> None:
    tried = {case.name for op in OWN for case in judged(op, CASES)[0]}
    assert tried == set(TYPES)
    assert judged(tri.Conv, CASES)[1].keys() >= {"i1", "i4"}
