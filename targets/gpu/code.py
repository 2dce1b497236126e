"""Code of a model for GPUs: kernels for one or several architectures, and launches of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import tile
from ...dialects.core.attributes import order_of
from ...dialects.core.errors import CompileError
from ...dialects.core.location import node_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.tensor import DTYPES
from ...dialects.tile.contraction import IEEE
from ...passes.pipeline import Pipeline
from ...runtime import manifest as m
from ..code import Buffers, Code, NumberedCall
from ..core import DEVICE_MEMORY, Progress
from ..options import TF32, Options
from ..orders import channels_last, row_major
from .architecture import Architecture
from .compile import Failure, Job, compile_sources
from .compiled import Compiled, Descriptor
from .pipeline import kernel_passes, lowering_passes
from .print_kernel import print_kernel
from .resources import least_driver, misfit, resources
from .source import Parameter, Source

REGISTER_BYTES = 4


@dataclass(frozen=True)
class KernelCode:
    """Hold a kernel as it was printed and compiled for an architecture."""

    settings: Mapping[str, Any]
    source: Source
    compiled: Compiled


def compile_for_gpu(
    module: Module, architectures: Sequence[Architecture], options: Options, progress: Progress
) -> "LaunchCode":
    """Put launches in the place of groups, and compile their kernels for each architecture.

    Raises CompileError with all kernels that an architecture does not take.
    """
    precision = TF32 if options.precision == TF32 else IEEE
    Pipeline(lowering_passes(precision)).run(module)
    codes = {each: _compile(module, each, options, progress) for each in architectures}
    return LaunchCode(module, codes)


class LaunchCode(Code):
    """Hold the kernels for each architecture; all of them make the same launches."""

    def __init__(
        self, module: Module, codes: Mapping[Architecture, Mapping[str, KernelCode]]
    ) -> None:
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
        for architecture, kernels in self.codes.items():
            for symbol, kernel in kernels.items():
                made[_entry(architecture, symbol, "cubin")] = kernel.compiled.code
                made[_entry(architecture, symbol, "py")] = kernel.source.file.encode()
        return made

    def parts(self) -> dict[str, Any]:
        return {"gpu": tuple(_code(each, kernels) for each, kernels in self.codes.items())}


def _compile(
    module: Module, architecture: Architecture, options: Options, progress: Progress
) -> dict[str, KernelCode]:
    """Fit copies of the kernels to an architecture, and compile them."""
    copies = Module(ir.Module.create(ir.Location.unknown(module.ir.context)))
    with ir.InsertionPoint(copies.ir.body):
        for op in ops(module.operation):
            if isinstance(op, tile.Kernel):
                op.operation.clone()
    Pipeline(kernel_passes(architecture.name)).run(copies)
    kernels = [op for op in ops(copies.operation) if isinstance(op, tile.Kernel)]
    sources = [print_kernel(kernel, options.strict) for kernel in kernels]
    jobs = [
        Job(source, kernel.warps, kernel.stages, options.strict)
        for kernel, source in zip(kernels, sources, strict=True)
    ]
    results = compile_sources(jobs, architecture, progress)
    made: dict[str, KernelCode] = {}
    faults: list[str] = []
    for kernel, source, result in zip(kernels, sources, results, strict=True):
        if isinstance(result, Failure):
            faults.append(str(result))
        elif reason := misfit(result, architecture):
            faults.append(f"kernel '{source.name}' does not fit {architecture.name}: {reason}")
        else:
            made[kernel.sym_name] = KernelCode(kernel.attributes, source, result)
    if faults:
        raise CompileError("\n".join(faults))
    return made


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


def _code(architecture: Architecture, kernels: Mapping[str, KernelCode]) -> m.GpuCode:
    described = [_describe(architecture, symbol, kernel) for symbol, kernel in kernels.items()]
    drivers = [least_driver(kernel.compiled, architecture) for kernel in kernels.values()]
    return m.GpuCode(architecture.name, tuple(described), max(drivers, default=0))


def _describe(architecture: Architecture, symbol: str, kernel: KernelCode) -> m.GpuKernel:
    source, compiled = kernel.source, kernel.compiled
    used = resources(compiled, architecture)
    return m.GpuKernel(
        symbol,
        _entry(architecture, symbol, "cubin"),
        compiled.function,
        source.grid,
        compiled.warps,
        compiled.shared_bytes,
        used.registers,
        used.local_bytes // REGISTER_BYTES,
        _parameters(source.parameters, compiled.descriptors),
        _entry(architecture, symbol, "py"),
        kernel.settings["blocks"],
        kernel.settings["stages"],
        compiled.triton,
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
