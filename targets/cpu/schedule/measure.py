"""Measure schedules of one op: each becomes a kernel of its own, and they run in turns."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of, type_of
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, add_main, ops
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array, Tensor, numpy_dtype
from ....passes.default import grouping_pipeline
from ....passes.pipeline import Pipeline
from ....runtime.cpu.elf import load_objects
from ...options import CompileOptions
from ...placement.place import Place
from ..emit.compile import compile_kernels
from ..layout.pack_weights import PackWeights
from .candidates import ERRORS
from .choose_winograd import ChooseWinograd
from .run_kernel import allocate_buffers, bind
from .schedule import Schedule, fix_schedule

ROUNDS = 12
"""The number of runs of each schedule; the least time counts."""

EVICTED_BYTES = 48 << 20
"""Bytes read before each run to evict weights from the caches, as in a network."""


def measure(
    op: Op,
    schedules: Sequence[Schedule],
    machine: Machine,
    options: CompileOptions,
    clock: Callable[[], int] = time.process_time_ns,
) -> list[float]:
    """Return the least processor time of an op with each schedule, in microseconds.

    Inputs are random and in the caches; weights are as large as the op's own and not in them.
    """
    calls = [_prepare(op, schedule, machine, options) for schedule in schedules]
    least = [float("inf")] * len(calls)
    evicted = np.ones(EVICTED_BYTES // 8)
    for _ in range(ROUNDS):
        for number, (call, warm) in enumerate(calls):
            evicted.sum()
            warm()
            start = clock()
            call()
            least[number] = min(least[number], (clock() - start) / 1e3)
    return least


Action = Callable[[], object]


def _prepare(
    op: Op, schedule: Schedule, machine: Machine, options: CompileOptions
) -> tuple[Action, Action]:
    """Return a function that runs a kernel, and one that loads its input into the caches."""
    module = _alone(op)
    for copy in ops(module.operation):
        if isinstance(copy, type(op)):
            fix_schedule(copy, schedule)
    choose = ChooseWinograd(max(ERRORS.values()), machine.name)
    passes = (choose, PackWeights(machine.name), *grouping_pipeline(2))
    Pipeline((*passes, Place(("cpu",)))).run(module)
    # The op is in the last group; those before it transform weights when a package is loaded.
    group = [found for found in ops(module.operation) if isinstance(found, tri.Group)][-1]
    code = compile_kernels([group], machine, replace(options, progress=None, hooks=()))
    kernel = code.kernels[group]
    values = [*group.operation.operands, *group.results]
    scratch = [piece.tensor for piece in kernel.scratch]
    arrays = allocate_buffers([*(tensor_of(v.type) for v in values), *scratch])
    library = load_objects({name: memoryview(data) for name, data in code.objects.items()})
    # The library must live as long as its code may be called.
    call = partial(_call, library, bind(kernel, library, arrays))
    call()
    return call, arrays[0].sum


def _call(library: object, action: Action) -> None:
    action()


def _alone(op: Op) -> Module:
    """Return a module of nothing but an op: its first operand comes in, the others are random.

    Sizes with symbols are the likely ones.
    """
    with ir.Location.unknown():
        module = Module(ir.Module.create())
        x, *others = op.operation.operands
        results = [_likely_type(v.type) for v in op.results]
        block = add_main(module, [x], results)
        argument = _likely_type(x.type)
        block.arguments[0].set_type(argument)
        function_type = ir.FunctionType.get([argument], results)
        module.main.attributes["function_type"] = ir.TypeAttr.get(function_type)
        with ir.InsertionPoint(block):
            constants = [
                tri.build_constant(module, _random(tensor_of(v.type)), "w").results[0]
                for v in others
            ]
            flat = iter([block.arguments[0], *constants])
            operands = [None if v is None else next(flat) for v in op.operand_groups()]
            copy = type(op).build(*operands, **op.attributes)
            ir.Operation.create("func.return", [], list(copy.results))
    return module


def _likely_type(type_: ir.Type) -> ir.Type:
    tensor = tensor_of(type_)
    return type_ if tensor.is_static else type_of(tensor.likely)


def _random(tensor: Tensor) -> Array:
    generator = np.random.default_rng(0)
    numbers = generator.standard_normal(tensor.shape, np.float32)
    return numbers.astype(numpy_dtype(tensor.dtype))
