"""Every op with a kernel, one size of its examples as a symbol: refused, or as its reference."""

import numpy as np
import pytest
from cases import CASES
from closeness import assert_close, defined
from cpu_kernels import Compiled, LoweredKernel, object_of
from groups import SYMBOL, Case, build_symbolic_group, op_of, release
from trivium.dialects.core.errors import Undecided
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.tensor import Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.cpu.kernels.kernel_module import Phase, record_of
from trivium.targets.cpu.lower.group import lower_group
from trivium.targets.cpu.registry import TABLE

COUNT = 3


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in CASES.examples])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_of_a_symbol_compute_what_the_reference_does(op: type[Op]) -> None:
    lowered: list[tuple[Case, LoweredKernel, list[int]]] = []
    for case in CASES.of(op, COUNT):
        for size in sorted({n for x in case.inputs for n in np.asarray(x).shape if n > 1}):
            with new_context(), ir.Location.unknown():
                made = _lowered(case, size, f"k_{len(lowered)}")
                release()
            if made is not None:
                lowered.append((case, *made))
    if not lowered:
        pytest.skip("no size of the examples may be a symbol")
    code = memoryview(object_of([kernel for _, kernel, _ in lowered], host_machine()))
    compiled = Compiled(load_objects({"kernels": code}), [kernel for _, kernel, _ in lowered])
    for index, (case, _, record) in enumerate(lowered):
        wanted = case.reference()
        results = compiled.run(index, case.inputs, [Tensor.of(y) for y in wanted], record)
        for got, want in zip(results, wanted, strict=True):
            seen = defined(case, want)
            assert_close(case, got[seen], want[seen], case.inputs)


def _lowered(case: Case, size: int, name: str) -> tuple[LoweredKernel, list[int]] | None:
    """Lower a case to a kernel where a size is a symbol; None if its type or the target refuses."""
    module = Module(ir.Module.create())
    group = build_symbolic_group(case, size, module)
    if group is None or TABLE.broken_limit(op_of(group)) is not None:
        return None
    try:
        with ir.InsertionPoint(module.ir.body):
            kernel = lower_group(group, host_machine())
    except Undecided:  # the target tries so, too, and refuses the op
        return None
    kernel.symbol = name
    record = [evaluate(word, {SYMBOL: size}) for word in record_of(group.operation)]
    text = str(kernel.alone())
    return LoweredKernel(name, kernel.scratch, (Phase(),), kernel.words, text), record
