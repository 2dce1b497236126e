"""Kernels for GPUs declare that tensors are in any order of axes, and compute in other ones."""

import numpy as np
import pytest
from closeness import assert_close, defined
from gpu_cases import CASES
from gpu_kernels import run_group
from groups import Case
from ordered import Order, build_ordered
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of, type_of
from trivium.dialects.core.op import Op
from trivium.targets.element_types import ORDERED
from trivium.targets.gpu.registry import TABLE


def _reversed(rank: int) -> Order:
    return tuple(reversed(range(rank)))


def build_reversed(case: Case) -> tri.Group:
    """Build a group whose operands and results have their first axis innermost."""
    group = build_ordered(case, [_reversed(each.ndim) for each in case.inputs])
    for value in group.end.operands:
        tensor = tensor_of(value.type)
        value.set_type(type_of(tensor, _reversed(tensor.rank)))
    return group


def test_every_kernel_takes_any_order_of_axes() -> None:
    assert {*CASES.examples} == {*TABLE.declared}
    for op, declared in TABLE.declared.items():
        names = [each.name for each in (*op.fields.operands, *op.fields.results)]
        layouts = {each.layout(name) for each in declared for name in names}
        assert layouts == {ORDERED}, op.op_name


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in CASES.examples])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_compute_in_another_order(op: type[Op]) -> None:
    (case,) = CASES.of(op, 1)
    made = run_group(lambda: build_reversed(case), case.inputs)
    for got, want in zip(made, case.reference(), strict=True):
        seen = defined(case, want)
        assert_close(case, got[seen], want[seen], case.inputs)


def test_an_order_that_a_kernel_does_not_know_of_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a kernel takes its operand for row-major, it reads other elements."""
    from trivium.targets.gpu.lower import group

    monkeypatch.setattr(group, "order_of", lambda type_: tuple(range(tensor_of(type_).rank)))
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    case = Case("softmax", tri.Softmax, (x,), {"axis": 1})
    (got,) = run_group(lambda: build_reversed(case), case.inputs)
    assert not np.allclose(got, case.reference()[0])
