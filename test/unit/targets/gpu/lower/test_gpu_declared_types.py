"""What kernels for GPUs declare about element types is what they compute."""

import pytest
from closeness import assert_close, defined
from gpu_cases import CASES
from gpu_kernels import run_group
from groups import build_group
from trivium.dialects import tri
from trivium.dialects.core.op import Op
from trivium.targets.gpu.registry import TABLE
from typed_cases import fields, judged

OWN = [op for op in CASES.examples if TABLE.declared[op] != (TABLE.types,)]


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in OWN])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_types_that_are_declared_are_computed(op: type[Op]) -> None:
    cases, refused = judged(op, CASES)
    assert cases, "the target takes no type of it"
    (declared,) = TABLE.declared[op]
    assert not refused.keys() & set(declared.every)
    for case in cases:
        assert all(dtype in declared.of(name) for name, dtype in fields(case))
        made = run_group(lambda c=case: build_group(c), case.inputs)
        for got, want in zip(made, case.reference(), strict=True):
            seen = defined(case, want)
            assert_close(case, got[seen], want[seen], case.inputs)


@pytest.mark.parametrize(
    ("op", "dtype"), [(tri.Mod, "f64"), (tri.Conv, "i1"), (tri.ConvTranspose, "i1")]
)
def test_types_that_are_not_declared_are_refused(op: type[Op], dtype: str) -> None:
    _, refused = judged(op, CASES)
    assert refused[dtype] == f"gpu has no kernels of {op.op_name} on {dtype}"
