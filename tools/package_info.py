"""The data of `trivium info`, from the manifest of a package alone."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from ..runtime.contents import PROCESS, WEIGHTS_ENTRY
from ..runtime.cpu.part import CpuPart, CpuRequirements
from ..runtime.dla.part import DlaPart, DlaProgram
from ..runtime.gpu.code import GpuCode, GpuKernel
from ..runtime.gpu.part import GpuPart
from ..runtime.gpu.step import GpuStep
from ..runtime.manifest import Manifest
from ..runtime.package import Package
from ..runtime.step import Step

RELAYOUTS = ("cpu.block", "cpu.unblock")
IR_ENTRY = "module.mlirbc"

LackingCpu = Callable[[CpuRequirements], str]
LackingGpu = Callable[[GpuCode], str]


@dataclass(frozen=True)
class PortInfo:
    """Describe an input or an output."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class MemoryInfo:
    """Describe the memory of a run in a memory space; `thread_bytes` is for each thread but one.

    `prepared_bytes` is for what is computed from the weights when the package is loaded.
    """

    activation_bytes: int
    activation_lower_bound_bytes: int
    weight_bytes: int
    thread_bytes: int = 0
    prepared_bytes: int = 0
    space: str = PROCESS


@dataclass(frozen=True)
class SizeInfo:
    """Give the size of a part of the file, and its number of entries."""

    content: str
    bytes: int
    entries: int


@dataclass(frozen=True)
class MathInfo:
    """Describe the math of the code; `winograd_error` is None if no kernel uses that method."""

    mode: str
    precision: str
    winograd_error: float | None


@dataclass(frozen=True)
class MachineInfo:
    """Describe a CPU with code in the package; `lacking` is the reason if it does not run here."""

    machine: str
    architecture: str
    features: tuple[str, ...]
    lacking: str
    chosen: bool


@dataclass(frozen=True)
class LayoutInfo:
    """Count the values of a layout, which is empty for the order of the model."""

    layout: str
    values: int


@dataclass(frozen=True)
class StepInfo:
    """Describe a step; `reason` is why it runs on the host."""

    kind: str
    nodes: tuple[str, ...]
    operation: str
    reason: str


@dataclass(frozen=True)
class KernelInfo:
    """Describe a native kernel of the CPU.

    A run calls it `calls` times; loading the package calls it `load_calls` times.
    """

    nodes: tuple[str, ...]
    ops: tuple[str, ...]
    calls: int
    load_calls: int
    symbol: str


@dataclass(frozen=True)
class GpuKernelInfo:
    """Describe a kernel of a GPU; `registers` and `spills` are of each thread."""

    nodes: tuple[str, ...]
    calls: int
    symbol: str
    grid: tuple[int, ...]
    warps: int
    shared_bytes: int
    registers: int
    spills: int
    blocks: tuple[str, ...]
    stages: int


@dataclass(frozen=True)
class GpuInfo:
    """Describe the code for one architecture; `lacking` is the reason if it does not run here."""

    architecture: str
    lacking: str
    kernels: tuple[GpuKernelInfo, ...]


@dataclass(frozen=True)
class AcceleratorInfo:
    """Describe a program of an accelerator, the memory it uses and the bytes it moves."""

    entry: str
    packets: int
    sram_bytes: int
    sram_lower_bound_bytes: int
    sram_capacity_bytes: int
    dram_bytes: int
    dram_bound_bytes: int


@dataclass(frozen=True)
class SignatureInfo:
    """Name the key that signed a package; `verified` says whether the signature was verified."""

    fingerprint: str
    verified: bool


@dataclass(frozen=True)
class PackageInfo:
    """Describe a package; `device_memory` is that of a run in each other memory space.

    `load_steps` run once, when the package is loaded, and `steps` at each run.
    """

    file: str
    producer: str
    source: str
    target: str
    inputs: tuple[PortInfo, ...]
    outputs: tuple[PortInfo, ...]
    memory: MemoryInfo
    device_memory: tuple[MemoryInfo, ...]
    sizes: tuple[SizeInfo, ...]
    math: MathInfo
    machines: tuple[MachineInfo, ...]
    layouts: tuple[LayoutInfo, ...]
    load_steps: tuple[StepInfo, ...]
    steps: tuple[StepInfo, ...]
    kernels: tuple[KernelInfo, ...]
    gpus: tuple[GpuInfo, ...]
    accelerators: tuple[AcceleratorInfo, ...]
    attempts: tuple[str, ...]
    signature: SignatureInfo | None


def package_info(
    file: str,
    manifest: Manifest,
    lacking: LackingCpu,
    lacking_gpu: LackingGpu,
    signature: SignatureInfo | None = None,
) -> PackageInfo:
    """Describe a package; `lacking` and `lacking_gpu` return why code does not run here, or ""."""
    memory = manifest.memory
    dla = manifest.part(DlaPart)
    return PackageInfo(
        file,
        manifest.producer,
        manifest.source,
        manifest.target,
        tuple(PortInfo(port.name, port.dtype, port.shape) for port in manifest.inputs),
        tuple(PortInfo(port.name, port.dtype, port.shape) for port in manifest.outputs),
        MemoryInfo(
            memory.arena_bytes,
            memory.arena_lower_bound,
            memory.weight_bytes,
            memory.thread_bytes,
            memory.prepared_bytes,
        ),
        tuple(
            MemoryInfo(
                space.arena_bytes,
                space.arena_lower_bound,
                space.weight_bytes,
                space=space.name,
            )
            for space in manifest.spaces
        ),
        tuple(_sizes(manifest)),
        _math(manifest),
        tuple(_machines(manifest, lacking)),
        tuple(_layouts(manifest)),
        tuple(_step(step, manifest) for step in manifest.load_steps),
        tuple(_step(step, manifest) for step in manifest.steps),
        tuple(
            KernelInfo(k.nodes, k.ops, k.calls, k.load_calls, k.symbol)
            for k in manifest.part(CpuPart).kernels
        ),
        tuple(_gpu(code, manifest, lacking_gpu) for code in manifest.part(GpuPart).codes),
        tuple(map(_accelerator, dla.programs)),
        dla.attempts,
        signature,
    )


def signature_info(package: Package, verified: bool) -> SignatureInfo | None:
    """Return who signed a package, None where nobody did."""
    signature = package.signature
    return SignatureInfo(signature.fingerprint, verified) if signature else None


def _sizes(manifest: Manifest) -> Iterator[SizeInfo]:
    """List the sizes of all that is in the file, by what it is."""
    sizes = {entry.name: entry.size for entry in manifest.entries}
    parts: dict[str, Collection[str]] = {
        f"weights in memory '{space.name}'": [space.weights_entry] for space in manifest.spaces
    }
    parts["weights"] = [WEIGHTS_ENTRY]
    for part in manifest.parts:
        parts |= part.entry_kinds(manifest)
    parts["IR"] = [IR_ENTRY]
    for content, names in parts.items():
        found = [sizes[name] for name in names if name in sizes]
        if found:
            yield SizeInfo(content, sum(found), len(found))


def _math(manifest: Manifest) -> MathInfo:
    math = manifest.math
    needed = any("winograd" in op for kernel in manifest.part(CpuPart).kernels for op in kernel.ops)
    return MathInfo(math.mode, math.precision, math.winograd_error if needed else None)


def _machines(manifest: Manifest, lacking: LackingCpu) -> Iterator[MachineInfo]:
    """List the CPUs with code; the first that lacks nothing would run."""
    machines = manifest.part(CpuPart).machines
    lacks = [lacking(needed) for needed in machines]
    chosen = lacks.index("") if "" in lacks else None
    for number, (needed, lack) in enumerate(zip(machines, lacks, strict=True)):
        first = number == chosen
        yield MachineInfo(needed.machine, needed.architecture, needed.features, lack, first)


def _layouts(manifest: Manifest) -> Iterator[LayoutInfo]:
    arena = [buffer for buffer in manifest.buffers if manifest.is_arena(buffer.base)]
    for layout, number in sorted(Counter(buffer.layout for buffer in arena).items()):
        yield LayoutInfo(layout, number)


def _step(step: Step, manifest: Manifest) -> StepInfo:
    return StepInfo(step.kind, step.nodes, step.operation(manifest), step.reason)


def _gpu(code: GpuCode, manifest: Manifest, lacking: LackingGpu) -> GpuInfo:
    steps = [step for step in manifest.steps if isinstance(step, GpuStep)]
    called = [launch for step in steps for launch in step.launches]
    calls = Counter(launch.kernel for launch in called)
    nodes = {launch.kernel: launch.nodes for launch in reversed(called)}

    def describe(kernel: GpuKernel) -> GpuKernelInfo:
        return GpuKernelInfo(
            nodes.get(kernel.symbol, ()),
            calls[kernel.symbol],
            kernel.symbol,
            kernel.grid,
            kernel.warps,
            kernel.shared_bytes,
            kernel.registers,
            kernel.spills,
            kernel.blocks,
            kernel.stages,
        )

    return GpuInfo(code.architecture, lacking(code), tuple(map(describe, code.kernels)))


def _accelerator(program: DlaProgram) -> AcceleratorInfo:
    return AcceleratorInfo(
        program.entry,
        program.packets,
        program.sram_bytes,
        program.sram_lower_bound,
        program.sram_capacity,
        program.dram_bytes,
        program.dram_bound,
    )
