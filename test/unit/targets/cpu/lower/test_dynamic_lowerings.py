"""Every op with a kernel, one size of its examples as a symbol: refused, or as its reference."""

import numpy as np
import pytest
from cases import CASES
from closeness import assert_close, defined
from cpu_kernels import Compiled, LoweredKernel, object_of
from groups import Case, release
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of, type_of
from trivium.dialects.core.errors import Invalid, Undecided
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.dim import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import symbol_table
from trivium.dialects.core.tensor import Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.cpu.kernels.kernel_module import Phase, record_of
from trivium.targets.cpu.lower.group import lower_group
from trivium.targets.cpu.registry import TABLE

COUNT = 3
SIZE = "S"


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
    op = _symbolic(case, size, module)
    if op is None or TABLE.broken_limit(op) is not None:
        return None
    (group,) = [each for each in module.ir.body.operations if each.operation.name == "tri.group"]
    try:
        with ir.InsertionPoint(module.ir.body):
            kernel = lower_group(tri.Group(group.operation), host_machine())
    except Undecided:  # the target tries so, too, and refuses the op
        return None
    kernel.symbol = name
    record = [evaluate(word, {SIZE: size}) for word in record_of(group.operation)]
    text = str(kernel.alone())
    return LoweredKernel(name, kernel.scratch, (Phase(),), kernel.words, text), record


def _symbolic(case: Case, size: int, module: Module) -> Op | None:
    """Build a group of the op of a case; None if the symbol is not what its attributes say."""
    symbol = symbol_table(ir.Context.current).declare(SIZE, Range())
    with ir.InsertionPoint(module.ir.body):
        group = tri.Group.create([[]], [], {"target": "cpu"})
    block = ir.Block.create_at_start(group.operation.regions[0], [])
    for array in map(np.asarray, case.inputs):
        shape = tuple(symbol if n == size else n for n in array.shape)
        tensor = Tensor(shape, Tensor.of(array).dtype)
        block.add_argument(type_of(tensor), ir.Location.unknown())
    flat = iter(list(block.arguments))
    operands = [
        None if o is None else [next(flat) for _ in o] if isinstance(o, list) else next(flat)
        for o in case.operands
    ]
    try:
        with ir.InsertionPoint(block):
            op = case.cls.build(*operands, **case.attributes)
            tri.Yield.build(list(op.results))
    except (Invalid, Undecided, TypeError):  # sizes in attributes remain numbers
        return None
    made = [tensor_of(y.type).shape for y in op.results]
    bound = [tuple(evaluate(n, {SIZE: size}) for n in shape) for shape in made]
    return op if bound == [y.shape for y in case.reference()] else None
