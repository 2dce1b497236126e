"""Every op with a kernel: examples of it, alone and with ops fused to it, against its reference."""

from collections.abc import Sequence

import numpy as np
import pytest
from cases import CASES
from closeness import assert_close, defined
from cpu_kernels import compile_groups, on_every_machine, share
from groups import Case, build_group
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor, dtype_of, is_computed
from trivium.targets.cpu import TARGET

COUNT = 10


def test_every_lowering_is_tested_here() -> None:
    assert set(CASES.examples) == set(TARGET.lowerings)


@on_every_machine
@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in CASES.examples])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_compute_what_the_reference_does(op: type[Op], machine: Machine) -> None:
    cases = share(CASES.of(op, COUNT), machine)
    assert cases, "the target refuses all examples"
    extras = [_extra(case, seed) for seed, case in enumerate(cases)]
    compiled = compile_groups(
        [
            lambda c=case, e=extra: build_group(c, e, _epilogue if e else None)
            for case, extra in zip(cases, extras, strict=True)
        ],
        machine,
    )
    for index, (case, extra) in enumerate(zip(cases, extras, strict=True)):
        wanted = case.reference()
        seen = [defined(case, y) for y in wanted]
        wanted = [np.maximum(wanted[0] + extra[0], 0).astype(wanted[0].dtype)] if extra else wanted
        inputs = [*case.inputs, *extra]
        made = compiled.run(index, inputs, [Tensor.of(y) for y in wanted])
        for got, want, where in zip(made, wanted, seen, strict=True):
            assert_close(case, got[where], want[where], inputs)


def _extra(case: Case, seed: int) -> list[Array]:
    """Return the other operand of a fused sum, for every second case that can have one."""
    results = case.reference()
    if seed % 2 or len(results) != 1 or results[0].dtype == np.bool_:
        return []
    if not is_computed(dtype_of(results[0].dtype)):
        return []
    shape = tuple(1 if axis % 2 else size for axis, size in enumerate(results[0].shape))
    random = np.random.default_rng(seed)
    return [random.integers(0, 5, shape).astype(results[0].dtype)]


def _epilogue(values: Sequence[ir.Value]) -> list[Op]:
    total = tri.Add.build(*values)
    return [total, tri.Relu.build(total.y)]
