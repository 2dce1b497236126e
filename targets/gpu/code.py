"""Code of a model for GPUs: kernels for one or several architectures, and launches of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects import tile
from ...dialects.core.attributes import order_of
from ...dialects.core.location import node_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.tensor import DTYPES
from ...passes.pipeline import Pipeline
from ...runtime import manifest as m
from ..code import Buffers, Code, NumberedCall
from ..core import DEVICE_MEMORY, Progress
from ..options import TF32, Options
from ..orders import channels_last, row_major
from .architecture import Architecture
from .compiled import Descriptor
from .kernel_code import ArchitectureCode, KernelCode, KernelCompiler
from .pipeline import IEEE, lowering_passes
from .resources import least_driver, resources
from .source import Parameter

REGISTER_BYTES = 4


def compile_for_gpu(
    module: Module, architectures: Sequence[Architecture], options: Options, progress: Progress
) -> "LaunchCode":
    """Put launches in the place of groups, and compile their kernels for each architecture.

    Raises CompileError with all kernels that an architecture does not take.
    """
    products = TF32 if options.precision == TF32 else IEEE
    Pipeline(lowering_passes(products)).run(module)
    compilers = {each: KernelCompiler(module, each, options, progress) for each in architectures}
    return LaunchCode(module, {each: compiler.compile() for each, compiler in compilers.items()})


class LaunchCode(Code):
    """Hold the kernels for each architecture; all of them make the same launches."""

    def __init__(self, module: Module, codes: Mapping[Architecture, ArchitectureCode]) -> None:
        self.module = module
        self.codes = codes

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[m.Step]:
        launches = [_launch(call.op, buffers) for _, call in calls]
        nodes = tuple(dict.fromkeys(node for launch in launches for node in launch.nodes))
        return [m.Step("gpu", launches=tuple(launches), nodes=nodes)]

    def layouts(self) -> Mapping[ir.Value, str]:
        found = [value for op in ops(self.module.main) for value in op.results]
        return {value: text for value in found if (text := _layout(value))}

    def entries(self) -> dict[str, bytes]:
        made: dict[str, bytes] = {}
        for architecture, code in self.codes.items():
            for name, kernel in _named(code):
                made[_entry(architecture, name, "cubin")] = kernel.compiled.code
                made[_entry(architecture, name, "py")] = kernel.source.file.encode()
        return made

    def parts(self) -> dict[str, Any]:
        return {"gpu": tuple(_code(each, code) for each, code in self.codes.items())}


def _launch(op: object, buffers: Buffers) -> m.Launch:
    assert isinstance(op, tile.Launch)
    values = (*op.operation.operands, *op.results)
    numbers = tuple(buffers.number(value, DEVICE_MEMORY) for value in values)
    return m.Launch(op.kernel, numbers, node_names(op.location))


def _layout(value: ir.Value) -> str:
    order = order_of(value.type)
    if order == row_major(len(order)):
        return ""
    last = order == channels_last(len(order))
    return "with channels last" if last else f"with axes in the order {', '.join(map(str, order))}"


def _entry(architecture: Architecture, symbol: str, suffix: str) -> str:
    return f"gpu/{architecture.name}/{symbol}.{suffix}"


def _named(code: ArchitectureCode) -> list[tuple[str, KernelCode]]:
    """Give each kernel and each candidate a name for its files."""
    others = [(f"{name}.{i}", kernel) for i, (name, kernel) in enumerate(code.candidates)]
    return [*code.kernels.items(), *others]


def _code(architecture: Architecture, code: ArchitectureCode) -> m.GpuCode:
    described = tuple(_describe(architecture, name, kernel) for name, kernel in _named(code))
    drivers = [least_driver(kernel.compiled, architecture) for _, kernel in _named(code)]
    count = len(code.kernels)
    return m.GpuCode(
        architecture.name, described[:count], max(drivers, default=0), described[count:]
    )


def _describe(architecture: Architecture, name: str, kernel: KernelCode) -> m.GpuKernel:
    source, compiled, setting = kernel.source, kernel.compiled, kernel.setting
    used = resources(compiled, architecture)
    return m.GpuKernel(
        source.name,
        _entry(architecture, name, "cubin"),
        compiled.function,
        source.grid,
        compiled.warps,
        compiled.shared_bytes,
        used.registers,
        used.local_bytes // REGISTER_BYTES,
        _parameters(source.parameters, compiled.descriptors),
        _entry(architecture, name, "py"),
        tuple(f"{block}={size}" for block, size in setting.blocks),
        setting.stages,
        compiled.triton,
        str(setting),
    )


def _parameters(
    parameters: Sequence[Parameter], descriptors: Sequence[Descriptor]
) -> tuple[m.GpuParameter, ...]:
    maps = iter(descriptors)
    described: list[m.GpuParameter] = []
    for each in parameters:
        memory = each.memory
        dtype = DTYPES[memory.dtype].numpy
        seen = (each.argument, memory.shape, memory.strides, dtype)
        if each.is_descriptor:
            box = next(maps)
            described.append(m.GpuParameter("tensor_map", *seen, box.block, box.swizzle))
        else:
            described.append(m.GpuParameter("pointer", *seen))
    return tuple(described)
