"""Texts about what a package has for a GPU."""

from collections import Counter
from collections.abc import Callable, Iterator

from ..runtime.manifest import ON_DEVICE, GpuCode, GpuKernel, Launch, Manifest, Step
from .spelling import columns, count, section, spell_headroom, spell_shape, spell_size


def gpu_sections(manifest: Manifest, lacking: Callable[[GpuCode], str]) -> Iterator[str]:
    """Yield sections of a description; `lacking` says why code does not run here."""
    if not manifest.gpu:
        return
    yield section("memory of the GPU", _memory(manifest))
    rows = [(code.architecture, lacking(code) or "would run here") for code in manifest.gpu]
    yield section("code for GPUs", columns(rows, ""))
    for code in manifest.gpu:
        yield section(f"kernels for {code.architecture}", _kernels(code, manifest))


def launches(manifest: Manifest) -> list[Launch]:
    """Return all launches, in order."""
    return [launch for step in manifest.steps for launch in step.launches]


def spell_step(step: Step, manifest: Manifest) -> str:
    """Describe a step that a GPU takes part in."""
    if step.kind == "gpu":
        return (
            f"{count(len(step.launches), 'launch', 'launches')}, {count(len(step.nodes), 'node')}"
        )
    (source,), (target,) = step.operands, step.results
    place = "the GPU" if manifest.buffers[target].base in ON_DEVICE else "the host"
    return f"{manifest.buffers[source].name} to {place}"


def _memory(manifest: Manifest) -> list[str]:
    memory = manifest.memory
    arena, bound = memory.device_arena_bytes, memory.device_arena_lower_bound
    return [
        f"activations  {spell_headroom(arena, bound)}",
        f"weights      {spell_size(memory.device_weight_bytes)}",
    ]


def _kernels(code: GpuCode, manifest: Manifest) -> list[str]:
    called = launches(manifest)
    calls = Counter(launch.kernel for launch in called)
    nodes = {launch.kernel: launch.nodes for launch in reversed(called)}
    return columns(
        [
            (f"{calls[kernel.symbol]}x", *_cells(kernel), ", ".join(nodes.get(kernel.symbol, ())))
            for kernel in code.kernels
        ],
        "",
    )


def _cells(kernel: GpuKernel) -> tuple[str, ...]:
    return (
        kernel.symbol,
        spell_shape(kernel.grid),
        count(kernel.warps, "warp"),
        f"{spell_size(kernel.shared_bytes)} shared",
        count(kernel.registers, "register"),
        count(kernel.spills, "spill"),
        " ".join((*kernel.blocks, count(kernel.stages, "stage"))),
    )
