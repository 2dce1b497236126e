"""Texts about packages: the report of `trivium info`, and the line of `trivium compile`."""

from collections.abc import Iterable, Iterator, Sequence

from ..runtime.cores import spell_cores
from ..runtime.manifest import Manifest
from ..runtime.sizes.values import spelled_sizes
from ..runtime.spelling import count, spell_names, spell_size
from ..runtime.step import all_steps
from .reports.package_info import (
    ExactInfo,
    MathInfo,
    MemoryInfo,
    PackageInfo,
    PortInfo,
    SettingsInfo,
    SignatureInfo,
    SizeInfo,
    StepInfo,
    work_of,
)
from .reports.size_info import check_rows, spell_sizes, symbol_rows
from .spelling import columns, section, spell_headroom


def describe(info: PackageInfo) -> str:
    """Return the report of a package; empty sections are left out."""
    source = f" from {info.source}" if info.source else ""
    head = f"{info.file}: compiled{source} for {info.target} by {info.producer}"
    return "\n".join(part for part in [head, *_sections(info)] if part)


def _sections(info: PackageInfo) -> Iterator[str]:
    yield section("inputs", map(_port, info.inputs))
    yield section("outputs", map(_port, info.outputs))
    yield section("free sizes", symbol_rows(info.symbols))
    yield section("checked in a run", check_rows(info.checks))
    for memory in info.device_memory:
        yield section(f"memory of '{memory.space}'", _memory(memory))
    at = " at the likely sizes" if info.symbols else ""
    yield section(f"memory{at}", _memory(info.memory))
    yield section("sizes", _rows([_size(size) for size in info.sizes]))
    yield section("kept beside what runs need", [", ".join(info.kept)] if info.kept else [])
    yield section("math", [_math(info.math)])
    yield section("sessions run on", _settings(info.settings))
    yield section("layouts", _layouts(info))
    yield section("steps when the package is loaded", _steps(info.load_steps))
    yield section("steps", _steps(info.steps))
    yield section("exact sizes", _rows([_exact(each) for each in info.exact]))
    for part in info.parts:
        for each in part.sections():
            yield section(each.title, _rows(each.rows))
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
    programs = [manifest] * (not manifest.only_exact) + [each.manifest for each in manifest.exact]
    work = work_of(programs[0])
    if manifest.exact:
        listed = "; ".join(each.spelled for each in manifest.exact)
        work.append(f"{'only ' * manifest.only_exact}exact for {listed}")
    beside = next((entry.file for entry in manifest.entries if entry.file), "")
    apart = f" with '{beside}'" if beside else ""
    line = f"{name}: {spell_size(size)}{apart}, {', '.join(work)}"
    places = {step.target for each in programs for step in all_steps(each.steps)}
    if not places or manifest.target in places:
        return line
    return f"{line}; nothing runs on {manifest.target}: trivium can-run says why"


def _rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return columns(rows, "") if rows else []


def _port(port: PortInfo) -> str:
    return f"{port.name}  {port.dtype}  {spell_sizes(port.shape)}"


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
    of = f", {count(size.entries, size.unit)}" if size.unit else ""
    where = f", in file '{size.file}'" if size.file else ""
    return spell_size(size.bytes), f"{size.content}{of}{where}"


def _exact(exact: ExactInfo) -> tuple[str, ...]:
    return spelled_sizes(exact.sizes), exact.work, f"{spell_size(exact.activation_bytes)} a run"


def _settings(settings: SettingsInfo) -> Iterator[str]:
    if settings.threads is not None:
        yield count(settings.threads, "thread")
    if settings.cores:
        yield f"cores {spell_cores(settings.cores)}"


def _math(math: MathInfo) -> str:
    mode = math.mode if math.precision == "f32" else f"{math.mode}, in {math.precision}"
    if not math.winograd_error:
        return mode
    return f"{mode}; by Winograd's method a layer may lose {math.winograd_error:g}"


def _layouts(info: PackageInfo) -> list[str]:
    """Count the values of each layout, where any is not that of the model."""
    if not any(each.layout for each in info.layouts):
        return []
    return [
        f"{count(each.values, 'value')} {each.layout or 'as the model has them'}"
        for each in info.layouts
    ]


def _steps(steps: Sequence[StepInfo]) -> Iterable[str]:
    return _rows(
        [
            (str(number), step.kind, spell_names(step.nodes), step.operation)
            for number, step in enumerate(steps)
        ]
    )
