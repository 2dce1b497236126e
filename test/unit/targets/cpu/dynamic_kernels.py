"""Kernels of symbolic sizes, beside the kernels that are made for sizes: results must be equal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from cpu_kernels import Compiled, LoweredKernel, object_of
from groups import release
from symbolic_groups import Dynamic, Sizes, build, draw_operand, forget_groups
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.core.verification import Verify
from trivium.passes.pipeline import Pipeline
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.cpu.emit.kernel_pipeline import module_of
from trivium.targets.cpu.emit.name_kernels import NameKernels
from trivium.targets.cpu.emit.split_phases import SplitPhases
from trivium.targets.cpu.kernels.kernel_module import Phase, kernel_modules, record_of
from trivium.targets.cpu.kernels.record import bind_record
from trivium.targets.cpu.lower.to_kernels import LowerToKernels


@dataclass(frozen=True)
class _Lowered:
    """A kernel that is not split into phases, its results, and what its record holds."""

    kernel: LoweredKernel
    inputs: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    record: Callable[[Sizes], list[int]]


def _lower(case: Dynamic, machine: Machine, sizes: Sizes | None) -> _Lowered:
    with new_context(), ir.Location.unknown():
        group = build(case, sizes, "cpu")
        inputs = tuple(tensor_of(v.type) for v in group.block.arguments)
        results = tuple(tensor_of(v.type) for v in group.end.operands)
        module = module_of(group)
        Pipeline((LowerToKernels(machine.name), NameKernels())).run(module, verify=Verify.NONE)
        (made,) = kernel_modules(module)
        (copy,) = [op for op in module.main_block.operations if op.operation.name == "tri.group"]
        record = record_of(copy.operation)
        text = str(made.alone())
        kernel = LoweredKernel(made.symbol, made.scratch, (Phase(),), made.words, text)
        release()
        forget_groups()
    return _Lowered(kernel, inputs, results, lambda s: [evaluate(word, s) for word in record])


def iterations(case: Dynamic, machine: Machine, sizes: Sizes) -> int:
    """Return how many iterations the last phase of the kernel for all sizes has at some sizes."""
    with new_context(), ir.Location.unknown():
        module = module_of(build(case, None, "cpu"))
        passes = LowerToKernels(machine.name), SplitPhases()
        Pipeline(passes).run(module, verify=Verify.NONE)
        (made,) = kernel_modules(module)
        (copy,) = [op for op in module.main_block.operations if op.operation.name == "tri.group"]
        phase = made.phases[-1]
        found = evaluate(bind_record(phase.iterations, record_of(copy.operation)), sizes)
        release()
        forget_groups()
    return found


def assert_equal_to_static(
    cases: Sequence[Dynamic], sizes: Sequence[Sizes], machine: Machine | None = None
) -> None:
    """Run each case at some sizes: by one kernel for all, and by one made for these sizes.

    Raises AssertionError unless all bytes of the results are equal.
    """
    machine = machine or host_machine()
    dynamic = [_lower(case, machine, None) for case in cases]
    static = [_lower(case, machine, at) for case in cases for at in sizes]
    lowered = [*dynamic, *static]
    distinct = {each.kernel.symbol: each.kernel for each in lowered}
    library = load_objects({"kernels": memoryview(object_of(list(distinct.values()), machine))})
    compiled = Compiled(library, [each.kernel for each in lowered])
    for number, case in enumerate(cases):
        for place, at in enumerate(sizes):
            index = len(cases) + number * len(sizes) + place
            made = lowered[index]
            arrays = [draw_operand(tensor, seed) for seed, tensor in enumerate(made.inputs)]
            want = compiled.run(index, arrays, made.results)
            got = compiled.run(number, arrays, made.results, dynamic[number].record(at))
            for one, other in zip(got, want, strict=True):
                if not case.exact:
                    np.testing.assert_allclose(one, other, 1e-5, 1e-5, err_msg=f"{case} at {at}")
                elif one.tobytes() != other.tobytes():
                    np.testing.assert_array_equal(one, other, f"{case} at {at}")
                    raise AssertionError(f"{case} at {at}: bits differ")
