"""The data of `trivium info`, from the manifest of a package alone."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ...runtime.contents import PROCESS, WEIGHTS_ENTRY, Part, Port
from ...runtime.file.compression import SUFFIX
from ...runtime.file.optional_entries import kept_kinds
from ...runtime.host.step import HostStep
from ...runtime.manifest import ExactProgram, Manifest
from ...runtime.package import Package
from ...runtime.report import EntryKind, PartReport
from ...runtime.sizes.stages import Stages
from ...runtime.sizes.symbols import spelled_ports
from ...runtime.step import Step, all_steps
from .size_info import CheckInfo, SymbolInfo, checks_of_package, symbols_of_package

IR_ENTRY = "module.mlirbc"


@dataclass(frozen=True)
class PortInfo:
    """Describe an input or an output."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class MemoryInfo:
    """Describe the memory of a run in a memory space; `thread_bytes` is for each thread but one.

    `prepared_bytes` is for constants that are computed when the package is loaded.
    """

    activation_bytes: int
    activation_lower_bound_bytes: int
    weight_bytes: int
    thread_bytes: int = 0
    prepared_bytes: int = 0
    space: str = PROCESS


@dataclass(frozen=True)
class SizeInfo:
    """Give the size of a part of the package, and its number of entries; `unit` is their noun.

    `file` is the one beside the package that has the part, empty for what is in the package.
    """

    content: str
    bytes: int
    entries: int
    unit: str
    file: str


@dataclass(frozen=True)
class MathInfo:
    """Describe the math of the code; `winograd_error` is None if no kernel uses that method."""

    mode: str
    precision: str
    winograd_error: float | None


@dataclass(frozen=True)
class SettingsInfo:
    """Record how sessions run unless told; None for as many threads as there are cores."""

    threads: int | None
    cores: tuple[int, ...]


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
class ExactInfo:
    """Describe a program for exact sizes of symbols, and the memory of a run of it."""

    sizes: dict[str, int]
    work: str
    activation_bytes: int


@dataclass(frozen=True)
class SignatureInfo:
    """Name the key that signed a package; `verified` is whether the signature was verified."""

    fingerprint: str
    verified: bool


@dataclass(frozen=True)
class PackageInfo:
    """Describe a package; `device_memory` is that of a run in each other memory space.

    `kept` are the kinds of its entries that no run needs, as `trivium strip` calls them.
    `load_steps` run once, when the package is loaded, and `steps` at each run. `parts` are the
    reports of targets. `exact` are programs for exact sizes; the other fields are not about them.
    """

    file: str
    producer: str
    source: str
    target: str
    inputs: tuple[PortInfo, ...]
    outputs: tuple[PortInfo, ...]
    symbols: tuple[SymbolInfo, ...]
    checks: tuple[CheckInfo, ...]
    memory: MemoryInfo
    device_memory: tuple[MemoryInfo, ...]
    sizes: tuple[SizeInfo, ...]
    kept: tuple[str, ...]
    math: MathInfo
    settings: SettingsInfo
    layouts: tuple[LayoutInfo, ...]
    load_steps: tuple[StepInfo, ...]
    steps: tuple[StepInfo, ...]
    exact: tuple[ExactInfo, ...]
    parts: tuple[PartReport, ...]
    signature: SignatureInfo | None

    def document(self) -> dict[str, Any]:
        """Return the fields of the JSON report, those of `parts` in its place."""
        table: dict[str, Any] = {}
        for report in (self, *self.parts):
            for field in fields(report):
                if field.name in table:
                    raise TypeError(f"two reports have a field '{field.name}'")
                table[field.name] = getattr(report, field.name)
        del table["parts"]
        return table


def package_info(
    file: str, manifest: Manifest, signature: SignatureInfo | None = None
) -> PackageInfo:
    """Describe a package on this computer."""
    memory, steps = manifest.memory, list(all_steps(manifest.steps))
    return PackageInfo(
        file,
        manifest.producer,
        manifest.source,
        manifest.target,
        _ports(manifest.inputs, manifest),
        _ports(manifest.outputs, manifest),
        symbols_of_package(manifest),
        checks_of_package(manifest),
        MemoryInfo(
            memory.arena_bytes,
            memory.arena_lower_bound,
            memory.weight_bytes,
            _likely_thread_bytes(manifest),
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
        kept_kinds(entry.name for entry in manifest.entries),
        _math(manifest),
        SettingsInfo(manifest.settings.threads or None, manifest.settings.cores),
        tuple(_layouts(manifest)),
        tuple(_step(step, manifest) for step in manifest.load_steps),
        tuple(_step(step, manifest) for step in steps),
        tuple(map(_exact, manifest.exact)),
        tuple(part.report(manifest, steps) for part in _parts(manifest)),
        signature,
    )


def _ports(ports: Sequence[Port], manifest: Manifest) -> tuple[PortInfo, ...]:
    named = spelled_ports(ports, manifest.symbols)
    return tuple(PortInfo(port.name, port.dtype, port.shape) for port in named)


def signature_info(package: Package, verified: bool) -> SignatureInfo | None:
    """Return the signature of a package, None for an unsigned one."""
    signature = package.signature
    return SignatureInfo(signature.fingerprint, verified) if signature else None


def _parts(manifest: Manifest) -> list[Part]:
    """Return the parts of a manifest, and an empty one of each kind that the runtime has itself."""
    built_in = [manifest.part(Part.of_kind(kind)) for kind in Part.built_in()]
    return [*built_in, *(part for part in manifest.parts if part not in built_in)]


def _sizes(manifest: Manifest) -> Iterator[SizeInfo]:
    """Yield the sizes of the entries in the file, by their content."""
    entries = {entry.name: entry for entry in manifest.entries}
    for kind in _entry_kinds(manifest):
        found = [entries[name] for name in kind.names if name in entries]
        if found:
            size, file = sum(entry.size for entry in found), found[0].file
            yield SizeInfo(kind.content, size, len(found), kind.unit, file)


def _entry_kinds(manifest: Manifest) -> Iterator[EntryKind]:
    for space in manifest.spaces:
        yield EntryKind(
            f"weights in memory '{space.name}'", [space.weights_entry, space.weights_entry + SUFFIX]
        )
    yield EntryKind("weights", [WEIGHTS_ENTRY, WEIGHTS_ENTRY + SUFFIX])
    for part in manifest.parts:
        yield from part.entry_kinds(manifest)
    yield EntryKind("IR", [IR_ENTRY])
    shared = list(_shared_kinds(manifest))
    yield from shared
    known = {name for kind in shared for name in kind.names}
    names = [entry.name for entry in manifest.entries if entry.name.startswith("exact/")]
    yield EntryKind("programs for exact sizes", [n for n in names if n not in known], "file")


def _shared_kinds(manifest: Manifest) -> Iterator[EntryKind]:
    """Yield what all programs of a package for exact sizes alone have in the same entries."""
    if not manifest.only_exact:
        return
    stored = {(entry.size, entry.checksum): entry.name for entry in manifest.entries}
    found: dict[str, list[EntryKind]] = {}
    for each in manifest.exact:
        names = {e.name: stored[e.size, e.checksum] for e in each.manifest.entries}
        for kind in (k for part in each.manifest.parts for k in part.entry_kinds(each.manifest)):
            renamed = frozenset(names[name] for name in kind.names if name in names)
            found.setdefault(kind.content, []).append(replace(kind, names=renamed))
    for kinds in found.values():
        if len(kinds) == len(manifest.exact) and len({kind.names for kind in kinds}) == 1:
            yield kinds[0]


def _exact(program: ExactProgram) -> ExactInfo:
    manifest = program.manifest
    arenas = [manifest.memory.arena_bytes, *(space.arena_bytes for space in manifest.spaces)]
    return ExactInfo(dict(program.sizes), ", ".join(work_of(manifest)), sum(arenas))


def work_of(manifest: Manifest) -> list[str]:
    """Return what a run does on each target, in a few words."""
    kinds: dict[type[Step], list[Step]] = {}
    for step in all_steps(manifest.steps):
        kinds.setdefault(type(step), []).append(step)
    on_host = kinds.pop(HostStep, [])
    work = [part.summary() for part in manifest.parts]
    work += [kind.summary(steps) for kind, steps in kinds.items()] + [HostStep.summary(on_host)]
    return [each for each in work if each]


def _math(manifest: Manifest) -> MathInfo:
    math = manifest.math
    needed = any("winograd" in op for part in manifest.parts for op in part.ops())
    return MathInfo(math.mode, math.precision, math.winograd_error if needed else None)


def _layouts(manifest: Manifest) -> Iterator[LayoutInfo]:
    arena = [buffer for buffer in manifest.buffers if manifest.is_arena(buffer.base)]
    for layout, number in sorted(Counter(buffer.layout for buffer in arena).items()):
        yield LayoutInfo(layout, number)


def _likely_thread_bytes(manifest: Manifest) -> int:
    """Return the memory of each thread but the first, at the likely sizes of symbols."""
    known = Stages(manifest).at(0)
    return known.likely_values(known.memory.thread_bytes)


def _step(step: Step, manifest: Manifest) -> StepInfo:
    return StepInfo(step.kind, step.nodes, step.operation(manifest), step.reason)
