"""Code of a model for GPUs: kernels for one or several architectures, and launches of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....dialects import tile
from ....dialects.core.attributes import order_of
from ....dialects.core.location import node_names
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.tensor import DTYPES
from ....passes.instrumentation import Begun
from ....passes.pipeline import Pipeline
from ....runtime.gpu import code as m
from ....runtime.gpu.array import SPACE
from ....runtime.gpu.part import GpuPart
from ....runtime.gpu.step import GpuStep
from ...choices import TF32
from ...compiled import Buffers, CompiledPart
from ...memory.orders import channels_last, row_major
from ...options import CompileOptions
from ...program.calls import NumberedCall
from ...program.program import Program
from ...tuning_file import PACKAGED
from ...written import written
from ..lower.to_tile import LowerToTile
from ..schedule.architecture import Architecture
from ..schedule.tuning_file import tuning_format
from .compile_kernels import CompiledKernel, KernelCode, compile_kernels
from .compiled import Descriptor
from .resources import least_driver, resources
from .source import Parameter

REGISTER_BYTES = 4


def compile_for_gpu(
    module: Module,
    architectures: Sequence[Architecture],
    options: CompileOptions,
) -> "LaunchCode":
    """Put launches in the place of groups, and compile their kernels for each architecture.

    Raises CompileError that lists the kernels that an architecture rejects.
    """
    Pipeline((lower_to_tile(options),)).run(module, *map(Begun, options.hooks))
    kernels = tile.kernels_of(module.operation)
    codes = {each: compile_kernels(kernels, each, options) for each in architectures}
    return LaunchCode(module, codes)


def lower_to_tile(options: CompileOptions) -> LowerToTile:
    """Return the pass that makes the kernels, with the precision of `options`."""
    return LowerToTile(TF32 if options.precision == TF32 else "ieee")


class LaunchCode(CompiledPart):
    """The kernels for each architecture; all of them make the same launches."""

    def __init__(
        self, module: Module, codes: Mapping[Architecture, Mapping[str, CompiledKernel]]
    ) -> None:
        self.module = module
        self.codes = codes

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[GpuStep]:
        launches = [_launch(call.op, buffers) for _, call in calls]
        nodes = tuple(dict.fromkeys(node for launch in launches for node in launch.nodes))
        return [GpuStep(launches=tuple(launches), nodes=nodes)]

    def layouts(self) -> Mapping[ir.Value, str]:
        found = [value for op in ops(self.module.main) for value in op.results]
        return {value: text for value in found if (text := _layout(value))}

    def entries(self) -> dict[str, bytes]:
        made: dict[str, bytes] = {}
        for architecture, kernels in self.codes.items():
            for symbol, kernel in kernels.items():
                made[_entry(architecture, symbol, "cubin")] = kernel.chosen.compiled.code
                made[_entry(architecture, symbol, "py")] = kernel.chosen.source.file.encode()
                for number, candidate in enumerate(kernel.candidates):
                    name = _candidate(symbol, number)
                    made[_entry(architecture, name, "cubin")] = candidate.compiled.code
            if used := {name: e for name, k in kernels.items() if (e := k.entry) is not None}:
                made[PACKAGED] = tuning_format(architecture.name).spell(used).encode()
        return made

    def part(self, program: Program) -> GpuPart | None:
        if not any(self.codes.values()):
            return None
        return GpuPart(tuple(_code(each, kernels) for each, kernels in self.codes.items()))


def _code(architecture: Architecture, kernels: Mapping[str, CompiledKernel]) -> m.GpuCode:
    chosen: list[m.GpuKernel] = []
    candidates: list[m.GpuKernel] = []
    for symbol, kernel in kernels.items():
        chosen.append(_describe(architecture, symbol, kernel.chosen, symbol))
        for number, candidate in enumerate(kernel.candidates):
            name = _candidate(symbol, number)
            described = _describe(architecture, symbol, candidate, name)
            candidates.append(replace(described, source=""))
    drivers = [least_driver(kernel.chosen.compiled, architecture) for kernel in kernels.values()]
    return m.GpuCode(architecture.name, tuple(chosen), max(drivers, default=0), tuple(candidates))


def _launch(op: object, buffers: Buffers) -> m.Launch:
    assert isinstance(op, tile.Launch)
    values = (*op.operation.operands, *op.results)
    numbers = tuple(buffers.number(value, SPACE) for value in values)
    return m.Launch(op.kernel, numbers, node_names(op.location), len(op.results))


def _layout(value: ir.Value) -> str:
    order = order_of(value.type)
    if order == row_major(len(order)):
        return ""
    last = order == channels_last(len(order))
    return "with channels last" if last else f"with axes in the order {', '.join(map(str, order))}"


def _entry(architecture: Architecture, symbol: str, suffix: str) -> str:
    return f"gpu/{architecture.name}/{symbol}.{suffix}"


def _candidate(symbol: str, number: int) -> str:
    return f"{symbol}-{number}"


def _describe(
    architecture: Architecture, symbol: str, kernel: KernelCode, name: str
) -> m.GpuKernel:
    """Describe a kernel whose entries are called by a name."""
    source, compiled = kernel.source, kernel.compiled
    used = resources(compiled, architecture)
    return m.GpuKernel(
        symbol,
        _entry(architecture, name, "cubin"),
        compiled.function,
        written(source.grid),
        compiled.warps,
        compiled.shared_bytes,
        used.registers,
        used.local_bytes // REGISTER_BYTES,
        _parameters(source.parameters, compiled.descriptors),
        _entry(architecture, name, "py"),
        tuple(f"{block}={size}" for block, size in kernel.setting.blocks),
        kernel.setting.stages,
        compiled.triton,
        str(kernel.setting),
        tuple(written(each.size) for each in source.sizes),
    )


def _parameters(
    parameters: Sequence[Parameter], descriptors: Sequence[Descriptor]
) -> tuple[m.GpuParameter, ...]:
    maps = iter(descriptors)
    described: list[m.GpuParameter] = []
    for each in parameters:
        memory = each.memory
        dtype = DTYPES[memory.dtype].numpy
        seen = (each.argument, written(memory.shape), written(memory.strides), dtype)
        if each.is_descriptor:
            box = next(maps)
            described.append(m.GpuParameter("tensor_map", *seen, box.block, box.swizzle))
        else:
            described.append(m.GpuParameter("pointer", *seen))
    return tuple(described)
