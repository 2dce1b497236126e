"""Texts about packages and models, made from nothing but their descriptions."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..runtime.manifest import ARENA, CpuRequirements, Kernel, Manifest, Math, Port, Step

if TYPE_CHECKING:
    from ..targets.place import Placement


def describe(name: str, manifest: Manifest, lacking: Callable[[CpuRequirements], str]) -> str:
    """Describe a package: `trivium info` prints it; `lacking` says why code does not run here."""
    source = f" from {manifest.source}" if manifest.source else ""
    parts = [
        f"{name}: compiled{source} for {manifest.target} by {manifest.producer}",
        _section("inputs", map(_port, manifest.inputs)),
        _section("outputs", map(_port, manifest.outputs)),
        _section("memory", _memory(manifest)),
        _section("sizes", _sizes(manifest)),
        _section("math", [_math(manifest.math)]),
        _section("machines", _machines(manifest.machines, lacking)),
        _section("layouts", _layouts(manifest)),
        _section("steps", _steps(manifest)),
        _section("kernels", _kernels(manifest.kernels)),
        _section("on the host", map(_host_step, _host_steps(manifest))),
    ]
    return "\n".join(part for part in parts if part)


def summary(name: str, manifest: Manifest) -> str:
    """Describe a package in one line."""
    size = sum(entry.size for entry in manifest.entries)
    calls = _count(sum(kernel.calls for kernel in manifest.kernels), "call")
    kernels = _count(len(manifest.kernels), "kernel")
    host = _count(len(_host_steps(manifest)), "op")
    return f"{name}: {spell_size(size)}, {calls} of {kernels}, {host} on the host"


def placement_report(name: str, placements: Sequence["Placement"]) -> str:
    """Describe where the ops of a model would run: `trivium check` prints it."""
    lines = [f"{name}: {_counted(placements)}"]
    for target in dict.fromkeys(p.target for p in placements):
        here = [p for p in placements if p.target == target]
        kinds = Counter(_spell_ops(p.ops) for p in here)
        rows = [(f"{count}x", ops) for ops, count in sorted(kinds.items())]
        lines += ["", target, *_columns(rows)]
    refused = [p for p in placements if p.refusals]
    if refused:
        rows = [(p.nodes, _spell_ops(p.ops), "; ".join(p.refusals)) for p in refused]
        lines += ["", "not where it was asked for", *_columns(rows)]
    return "\n".join(lines)


def spell_shape(shape: Sequence[int]) -> str:
    """Spell a shape: 1x3x224x224."""
    return "x".join(map(str, shape)) or "scalar"


def spell_size(size: int) -> str:
    """Spell a number of bytes."""
    for unit, bytes_ in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.1f} {unit}"
    return f"{size} bytes"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _section(title: str, lines: Iterable[str]) -> str:
    indented = [f"  {line}" for line in lines]
    return "\n".join(["", title, *indented]) if indented else ""


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
    return _columns(rows, "")


def _memory(manifest: Manifest) -> list[str]:
    memory = manifest.memory
    peak, bound = memory.arena_bytes, memory.arena_lower_bound
    over = f", {(peak / bound - 1):.1%} above it" if bound else ""
    return [
        f"activations  {spell_size(peak)}, lower bound {spell_size(bound)}{over}",
        f"per thread   {spell_size(memory.thread_bytes)} for each but the first",
        f"weights      {spell_size(memory.weight_bytes)}",
    ]


def _math(math: Math) -> str:
    mode = math.mode if math.precision == "f32" else f"{math.mode}, in {math.precision}"
    if not math.winograd_error:
        return mode
    return f"{mode}; by Winograd's method a layer may lose {math.winograd_error:g}"


def _sizes(manifest: Manifest) -> list[str]:
    sizes = {entry.name: entry.size for entry in manifest.entries}
    code = [size for name, size in sizes.items() if name.endswith(".o")]
    parts = {
        "weights": sizes.get("weights.bin", 0),
        f"native code, {_count(len(code), 'object')}": sum(code),
        "IR": sizes.get("module.mlirbc", 0),
    }
    return list(_columns([(spell_size(size), name) for name, size in parts.items()], ""))


RELAYOUTS = ("cpu.block", "cpu.unblock")


def _layouts(manifest: Manifest) -> list[str]:
    """Count values by their layout; list the kernels that bring them from one to another."""
    arena = [buffer for buffer in manifest.buffers if buffer.base == ARENA]
    counts = Counter(buffer.layout or "as the model has them" for buffer in arena)
    values = [f"{_count(count, 'value')} {layout}" for layout, count in sorted(counts.items())]
    moved = [k for k in manifest.kernels if not set(RELAYOUTS).isdisjoint(k.ops)]
    rows = [(f"{k.calls}x", _spell_ops(k.ops), ", ".join(k.nodes)) for k in moved]
    return [*values, *_columns(rows, "")] if rows else values


def _steps(manifest: Manifest) -> Iterable[str]:
    rows = [
        (str(number), step.kind, step.op or f"{step.symbol}, {_count(len(step.nodes), 'node')}")
        for number, step in enumerate(manifest.steps)
    ]
    return _columns(rows, "")


def _kernels(kernels: Sequence[Kernel]) -> Iterable[str]:
    rows = [(f"{k.calls}x", k.symbol, _spell_ops(k.ops), ", ".join(k.nodes)) for k in kernels]
    return _columns(rows, "")


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


def _columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Align rows in columns; the last one is left as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent + "  ".join(f"{cell:{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
