"""Texts about packages and models, made from nothing but their descriptions."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..runtime.checks import DEVICE_WEIGHTS_ENTRY, WEIGHTS_ENTRY
from ..runtime.manifest import (
    ARENA,
    DEVICE_ARENA,
    ON_GPU,
    CpuRequirements,
    GpuCode,
    Kernel,
    Manifest,
    Math,
    Port,
    Step,
)
from .report_dla import dla_sections
from .report_gpu import gpu_sections, launches, spell_step
from .spelling import columns, count, section, spell_headroom, spell_shape, spell_size

if TYPE_CHECKING:
    from ..compiler.verdicts import Verdict
    from ..targets.place import Placement


def describe(
    name: str,
    manifest: Manifest,
    lacking: Callable[[CpuRequirements], str],
    lacking_gpu: Callable[[GpuCode], str],
) -> str:
    """Describe a package: `trivium info` prints it.

    `lacking` and `lacking_gpu` say why code does not run here.
    """
    source = f" from {manifest.source}" if manifest.source else ""
    parts = [
        f"{name}: compiled{source} for {manifest.target} by {manifest.producer}",
        section("inputs", map(_port, manifest.inputs)),
        section("outputs", map(_port, manifest.outputs)),
        section("memory", _memory(manifest)),
        section("sizes", _sizes(manifest)),
        section("math", [_math(manifest.math)]),
        section("machines", _machines(manifest.machines, lacking)),
        section("layouts", _layouts(manifest)),
        section("steps when the package is loaded", _steps(manifest.load_steps, manifest)),
        section("steps", _steps(manifest.steps, manifest)),
        section("kernels", _kernels(manifest.kernels)),
        *gpu_sections(manifest, lacking_gpu),
        *dla_sections(manifest),
        section("on the host", map(_host_step, _host_steps(manifest))),
    ]
    return "\n".join(part for part in parts if part)


def summary(name: str, manifest: Manifest) -> str:
    """Describe a package in one line."""
    size = sum(entry.size for entry in manifest.entries)
    calls = count(sum(kernel.calls for kernel in manifest.kernels), "call")
    native = f"{calls} of {count(len(manifest.kernels), 'kernel')}"
    launched = launches(manifest)
    gpu = f"{count(len(launched), 'launch', 'launches')} on the GPU"
    dla = f"{count(len(manifest.dla), 'program')} on {manifest.target}"
    work = [native] * bool(manifest.kernels or not launched) + [gpu] * bool(launched)
    work += [dla] * bool(manifest.dla)
    host = count(len(_host_steps(manifest)), "op")
    line = f"{name}: {spell_size(size)}, {', '.join(work)}, {host} on the host"
    places = {step.accelerator or step.kind for step in manifest.steps}
    if not places or manifest.target in places:
        return line
    return f"{line}; nothing runs on {manifest.target}: trivium can-run says why"


def placement_report(name: str, placements: Sequence["Placement"]) -> str:
    """Describe where the ops of a model would run: `trivium check` prints it."""
    lines = [f"{name}: {_counted(placements)}"]
    for target in dict.fromkeys(p.target for p in placements):
        here = [p for p in placements if p.target == target]
        kinds = Counter(_spell_ops(p.ops) for p in here)
        rows = [(f"{count}x", ops) for ops, count in sorted(kinds.items())]
        lines += ["", target, *columns(rows)]
    refused = [p for p in placements if p.refusals]
    if refused:
        rows = [(p.nodes, _spell_ops(p.ops), "; ".join(p.refusals)) for p in refused]
        lines += ["", "not where it was asked for", *columns(rows)]
    return "\n".join(lines)


def verdict_report(verdicts: Sequence["Verdict"], target: str) -> str:
    """Describe which nodes of a model would run on a target: `trivium can-run` prints it."""
    rows = [
        (
            verdict.node,
            _spell_ops(verdict.ops),
            "yes" if verdict.runs else "no",
            _where(verdict, target),
        )
        for verdict in verdicts
    ]
    able = sum(verdict.runs for verdict in verdicts)
    total = f"{able} of {count(len(rows), 'node')} {'runs' if able == 1 else 'run'} on {target}"
    return "\n".join([*columns(rows, ""), total] if rows else [total])


def _where(verdict: "Verdict", target: str) -> str:
    """Say where a node runs, when not all of it runs where it was asked for."""
    if not verdict.targets:
        return "nothing is left to run"
    if verdict.runs:
        others = [other for other in verdict.targets if other != target]
        return f"brought by {', '.join(others)}" if others else ""
    return f"on {', '.join(verdict.targets)}: {'; '.join(verdict.refusals)}"


def _port(port: Port) -> str:
    return f"{port.name}  {port.dtype}  {spell_shape(port.shape)}"


def _machines(
    machines: Sequence[CpuRequirements], lacking: Callable[[CpuRequirements], str]
) -> list[str]:
    """List what there is code for; the first that nothing is lacking for would run."""
    lacks = [lacking(needed) for needed in machines]
    chosen = lacks.index("") if "" in lacks else None
    rows = [
        (needed.machine, "would run here" if i == chosen else lack or "could run here")
        for i, (needed, lack) in enumerate(zip(machines, lacks, strict=True))
    ]
    return columns(rows, "")


def _memory(manifest: Manifest) -> list[str]:
    memory = manifest.memory
    lines = [
        f"activations  {spell_headroom(memory.arena_bytes, memory.arena_lower_bound)}",
        f"per thread   {spell_size(memory.thread_bytes)} for each but the first",
        f"weights      {spell_size(memory.weight_bytes)}",
    ]
    if memory.prepared_bytes:
        lines.append(
            f"prepared     {spell_size(memory.prepared_bytes)}, computed from the weights "
            "when the package is loaded"
        )
    return lines


def _math(math: Math) -> str:
    mode = math.mode if math.precision == "f32" else f"{math.mode}, in {math.precision}"
    if not math.winograd_error:
        return mode
    return f"{mode}; by Winograd's method a layer may lose {math.winograd_error:g}"


def _sizes(manifest: Manifest) -> list[str]:
    sizes = {entry.name: entry.size for entry in manifest.entries}
    code = [size for name, size in sizes.items() if name.endswith(".o")]
    entries = {kernel.entry for gpu in manifest.gpu for kernel in gpu.kernels}
    on_gpu = {
        "weights for the GPU": sizes.get(DEVICE_WEIGHTS_ENTRY, 0),
        f"code for GPUs, {count(len(entries), 'cubin')}": sum(sizes[name] for name in entries),
    }
    parts = {
        "weights": sizes.get(WEIGHTS_ENTRY, 0),
        f"native code, {count(len(code), 'object')}": sum(code),
        **(on_gpu if manifest.gpu else {}),
        **_containers(manifest, sizes),
        "IR": sizes.get("module.mlirbc", 0),
    }
    return list(columns([(spell_size(size), name) for name, size in parts.items()], ""))


def _containers(manifest: Manifest, sizes: Mapping[str, int]) -> dict[str, int]:
    entries = {step.entry for step in manifest.steps if step.kind == "dla"}
    if not entries:
        return {}
    title = f"constants and code for accelerators, {count(len(entries), 'container')}"
    return {title: sum(sizes[name] for name in entries)}


RELAYOUTS = ("cpu.block", "cpu.unblock")


def _layouts(manifest: Manifest) -> list[str]:
    """Count values by their layout; list the kernels that bring them from one to another."""
    arena = [buffer for buffer in manifest.buffers if buffer.base in (ARENA, DEVICE_ARENA)]
    counts = Counter(buffer.layout or "as the model has them" for buffer in arena)
    values = [f"{count(number, 'value')} {layout}" for layout, number in sorted(counts.items())]
    moved = [k for k in manifest.kernels if not set(RELAYOUTS).isdisjoint(k.ops)]
    rows = [(f"{k.calls}x", _spell_ops(k.ops), ", ".join(k.nodes)) for k in moved]
    return [*values, *columns(rows, "")] if rows else values


def _steps(steps: Sequence[Step], manifest: Manifest) -> Iterable[str]:
    rows = [(str(number), step.kind, _step(step, manifest)) for number, step in enumerate(steps)]
    return columns(rows, "")


def _step(step: Step, manifest: Manifest) -> str:
    if step.kind in ON_GPU:
        return spell_step(step, manifest)
    name = f"{step.entry} on {step.accelerator}" if step.kind == "dla" else step.symbol
    return step.op or f"{name}, {count(len(step.nodes), 'node')}"


def _kernels(kernels: Sequence[Kernel]) -> Iterable[str]:
    rows = [(_calls(k), k.symbol, _spell_ops(k.ops), ", ".join(k.nodes)) for k in kernels]
    return columns(rows, "")


def _calls(kernel: Kernel) -> str:
    if not kernel.load_calls:
        return f"{kernel.calls}x"
    loaded = f"{kernel.load_calls}x at load"
    return f"{kernel.calls}x, {loaded}" if kernel.calls else loaded


def _host_steps(manifest: Manifest) -> list[Step]:
    return [step for step in manifest.steps if step.kind == "host"]


def _host_step(step: Step) -> str:
    reason = f": {step.reason}" if step.reason else ""
    return f"{step.op}  {', '.join(step.nodes)}{reason}"


def _counted(placements: Sequence["Placement"]) -> str:
    counts = Counter(p.target for p in placements)
    return ", ".join(f"{count} on {target}" for target, count in counts.items()) or "nothing to run"


def _spell_ops(ops: Sequence[str]) -> str:
    return " + ".join(ops)
