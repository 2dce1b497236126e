"""Texts about packages: the report of `trivium info`, and the line of `trivium compile`."""

from collections.abc import Iterable, Iterator, Sequence

from ..runtime.host.step import HostStep
from ..runtime.manifest import Manifest
from ..runtime.step import Step
from .package_info import (
    RELAYOUTS,
    AcceleratorInfo,
    GpuInfo,
    GpuKernelInfo,
    KernelInfo,
    MachineInfo,
    MathInfo,
    MemoryInfo,
    PackageInfo,
    PortInfo,
    SignatureInfo,
    SizeInfo,
    StepInfo,
)
from .spelling import columns, count, section, spell_headroom, spell_names, spell_shape, spell_size

COUNTED = {
    "native code": "object",
    "code for GPUs": "cubin",
    "constants and code for accelerators": "container",
}


def describe(info: PackageInfo) -> str:
    """Return the report of a package; sections about what it does not have are left out."""
    source = f" from {info.source}" if info.source else ""
    head = f"{info.file}: compiled{source} for {info.target} by {info.producer}"
    return "\n".join(part for part in [head, *_sections(info)] if part)


def _sections(info: PackageInfo) -> Iterator[str]:
    yield section("inputs", map(_port, info.inputs))
    yield section("outputs", map(_port, info.outputs))
    for memory in info.device_memory:
        yield section(f"memory of '{memory.space}'", _memory(memory))
    yield section("memory", _memory(info.memory))
    yield section("sizes", _rows([_size(size) for size in info.sizes]))
    yield section("math", [_math(info.math)])
    yield section("machines", _rows([(m.machine, _suitable(m)) for m in info.machines]))
    yield section("layouts", _layouts(info))
    yield section("steps when the package is loaded", _steps(info.load_steps))
    yield section("steps", _steps(info.steps))
    yield section("kernels", _rows([_kernel(kernel) for kernel in info.kernels]))
    gpus = [(gpu.architecture, gpu.lacking or "would run here") for gpu in info.gpus]
    yield section("code for GPUs", _rows(gpus))
    yield from map(_gpu_kernels, info.gpus)
    programs = [row for program in info.accelerators for row in _program(program)]
    yield section("on accelerators", _rows(programs))
    yield section("schedules that did not fit", info.attempts)
    host = [step for step in info.steps if step.kind == "host"]
    rows = [(spell_names(step.nodes), step.operation, step.reason) for step in host]
    yield section("on the host", _rows(rows))
    if info.signature:
        yield section("signature", [spell_signature(info.signature)])


def spell_signature(signature: SignatureInfo | None) -> str:
    """Return a line with the key that signed a package, and whether that was verified."""
    if signature is None:
        return "not signed"
    verified = "verified" if signature.verified else "not verified"
    return f"signed by {signature.fingerprint}, {verified}"


def summary(name: str, manifest: Manifest) -> str:
    """Describe a package in one line."""
    size = sum(entry.size for entry in manifest.entries)
    kinds: dict[type[Step], list[Step]] = {}
    for step in manifest.steps:
        kinds.setdefault(type(step), []).append(step)
    on_host = kinds.pop(HostStep, [])
    work = [part.summary() for part in manifest.parts]
    work += [kind.summary(steps) for kind, steps in kinds.items()] + [HostStep.summary(on_host)]
    line = f"{name}: {spell_size(size)}, {', '.join(filter(None, work))}"
    places = {step.target for step in manifest.steps}
    if not places or manifest.target in places:
        return line
    return f"{line}; nothing runs on {manifest.target}: trivium can-run says why"


def _rows(rows: list[tuple[str, ...]]) -> list[str]:
    return columns(rows, "") if rows else []


def _port(port: PortInfo) -> str:
    return f"{port.name}  {port.dtype}  {spell_shape(port.shape)}"


def _memory(memory: MemoryInfo) -> Iterator[str]:
    arena, bound = memory.activation_bytes, memory.activation_lower_bound_bytes
    if arena:
        yield f"activations  {spell_headroom(arena, bound)}"
    if memory.thread_bytes:
        yield f"per thread   {spell_size(memory.thread_bytes)} for each but the first"
    if memory.weight_bytes:
        yield f"weights      {spell_size(memory.weight_bytes)}"
    if memory.prepared_bytes:
        prepared = spell_size(memory.prepared_bytes)
        yield f"prepared     {prepared}, computed from the weights when the package is loaded"


def _size(size: SizeInfo) -> tuple[str, str]:
    of = f", {count(size.entries, COUNTED[size.content])}" if size.content in COUNTED else ""
    return spell_size(size.bytes), f"{size.content}{of}"


def _math(math: MathInfo) -> str:
    mode = math.mode if math.precision == "f32" else f"{math.mode}, in {math.precision}"
    if not math.winograd_error:
        return mode
    return f"{mode}; by Winograd's method a layer may lose {math.winograd_error:g}"


def _suitable(machine: MachineInfo) -> str:
    return "would run here" if machine.chosen else machine.lacking or "could run here"


def _layouts(info: PackageInfo) -> list[str]:
    """Count values by their layout; list the kernels that bring them from one to another."""
    values = [
        f"{count(each.values, 'value')} {each.layout or 'as the model has them'}"
        for each in info.layouts
    ]
    moved = [k for k in info.kernels if not set(RELAYOUTS).isdisjoint(k.ops)]
    rows = [(f"{k.calls}x", spell_names(k.nodes), _ops(k)) for k in moved]
    return [*values, *_rows(rows)] if rows or any(each.layout for each in info.layouts) else []


def _steps(steps: Sequence[StepInfo]) -> Iterable[str]:
    return _rows(
        [
            (str(number), step.kind, spell_names(step.nodes), step.operation)
            for number, step in enumerate(steps)
        ]
    )


def _kernel(kernel: KernelInfo) -> tuple[str, ...]:
    return _calls(kernel), spell_names(kernel.nodes), _ops(kernel), kernel.symbol


def _calls(kernel: KernelInfo) -> str:
    if not kernel.load_calls:
        return f"{kernel.calls}x"
    loaded = f"{kernel.load_calls}x at load"
    return f"{kernel.calls}x, {loaded}" if kernel.calls else loaded


def _ops(kernel: KernelInfo) -> str:
    return " + ".join(kernel.ops)


def _gpu_kernels(gpu: GpuInfo) -> str:
    rows = [_gpu_kernel(kernel) for kernel in gpu.kernels]
    return section(f"kernels for {gpu.architecture}", _rows(rows))


def _gpu_kernel(kernel: GpuKernelInfo) -> tuple[str, ...]:
    spills = [count(kernel.spills, "spill")] * bool(kernel.spills)
    return (
        f"{kernel.calls}x",
        spell_names(kernel.nodes),
        kernel.symbol,
        spell_shape(kernel.grid),
        count(kernel.warps, "warp"),
        f"{spell_size(kernel.shared_bytes)} shared",
        ", ".join([count(kernel.registers, "register"), *spills]),
        " ".join((*kernel.blocks, count(kernel.stages, "stage"))),
    )


def _program(program: AcceleratorInfo) -> list[tuple[str, str, str]]:
    sram = f"{spell_size(program.sram_bytes)} of {spell_size(program.sram_capacity_bytes)}"
    least = f"{spell_size(program.sram_lower_bound_bytes)} live at once"
    moved, alone = spell_size(program.dram_bytes), spell_size(program.dram_bound_bytes)
    return [
        (program.entry, "stream", count(program.packets, "packet")),
        ("", "sram", f"{sram}, {least}"),
        ("", "dram", f"{moved} moved, {alone} if each op went by itself"),
    ]
