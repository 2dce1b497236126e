"""Describe a package: what goes in and out, where every tensor lives, what runs in which order."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn, cast

from .errors import PackageError
from .schema import Attribute, decode, encode

FORMAT = "trivium"
VERSION = 4

# The first two bases; the inputs follow, then the outputs.
ARENA, WEIGHTS, FIRST_PORT = 0, 1, 2
ABSENT = -1
ALONE = -1

COMPLEX = {"float32": "complex64", "float64": "complex128"}
"""The types of ports whose buffers have real and imaginary parts along a last axis, by theirs."""


@dataclass(frozen=True)
class Port:
    """Name one input or output; `buffer` is the buffer that holds it.

    The buffer of complex numbers has them as pairs of real ones, along an axis more.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    buffer: int


@dataclass(frozen=True)
class Buffer:
    """Place one tensor at `offset` bytes into a base.

    `name` is the source value it holds; `sources` lists every source value equal to it. `layout`
    says how its elements lie where that is not as the model has them.
    """

    name: str
    base: int
    offset: int
    shape: tuple[int, ...]
    dtype: str
    sources: tuple[str, ...] = ()
    layout: str = ""


@dataclass(frozen=True)
class Step:
    """Do one thing: call the native function `symbol`, or the reference kernel of `op`.

    `groups` says how operands are passed to a reference kernel: `ALONE` for one by itself, a count
    for that many as one list. Without it, every operand is passed by itself. `reason` says why a
    step is on the host and not on the package's target. `phases` is how often the threads that run
    a native function wait for one another.
    """

    kind: str
    symbol: str = ""
    op: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()
    reason: str = ""
    phases: int = 0


@dataclass(frozen=True)
class Memory:
    """Say how much memory a run takes, and the least any plan could have taken for the arena.

    `thread_bytes` is what each thread takes besides, but for the first.
    """

    arena_bytes: int
    arena_lower_bound: int
    weight_bytes: int
    thread_bytes: int = 0


@dataclass(frozen=True)
class Kernel:
    """Describe one compiled kernel: its object, what it computes, how often a run calls it."""

    symbol: str
    object: str
    nodes: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    calls: int = 1


@dataclass(frozen=True)
class CpuRequirements:
    """Say what native code was made for; features are as /proc/cpuinfo spells them.

    `machine` is the name that the compiler was given; it names the folder of the code, too.
    """

    architecture: str = "x86_64"
    features: tuple[str, ...] = ()
    machine: str = ""

    @property
    def folder(self) -> str:
        """Return how the names of entries with this code begin."""
        return f"cpu/{self.machine}/" if self.machine else "cpu/"


@dataclass(frozen=True)
class Math:
    """Record what code may do to numbers: `mode` is fast or strict.

    `winograd_error` is what a layer may lose by Winograd's method, relative to its largest output.
    """

    mode: str = "fast"
    winograd_error: float = 0.0


@dataclass(frozen=True)
class Entry:
    """Vouch for one file of the package."""

    name: str
    size: int
    checksum: str


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Describe a whole package.

    It may hold native code for several machines, the best one first: `kernels` are those of the
    first one, and the functions of steps are there for each.
    """

    format: str = FORMAT
    version: int = VERSION
    producer: str
    source: str
    target: str
    math: Math = Math()
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    memory: Memory
    kernels: tuple[Kernel, ...] = ()
    machines: tuple[CpuRequirements, ...] = (CpuRequirements(),)
    entries: tuple[Entry, ...] = ()

    def to_json(self) -> str:
        """Return the text of this manifest; equal manifests have equal texts."""
        return json.dumps(encode(self), allow_nan=False, separators=(",", ":"))

    @staticmethod
    def from_json(text: str | bytes) -> "Manifest":
        """Read a manifest; says where the text strays from what a manifest looks like."""
        try:
            document = json.loads(
                text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
            )
            _check_version(document)
            return decode(Manifest, document)
        except PackageError as error:
            raise PackageError(f"manifest: {error}") from None
        except (ValueError, RecursionError) as error:
            raise PackageError(f"manifest: is not JSON: {error}") from None


def _check_version(document: object) -> None:
    # Before anything else: a later version may have other fields.
    table = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    mark, version = table.get("format"), table.get("version")
    if mark != FORMAT:
        raise PackageError(f"'format' is {mark!r}, must be {FORMAT!r}")
    if type(version) is int and version > VERSION:
        raise PackageError(
            f"'version' is {version}, this runtime reads up to {VERSION}: "
            "update the runtime or compile the model again with this version"
        )
    if type(version) is int and version < VERSION:
        raise PackageError(
            f"'version' is {version}, this runtime reads {VERSION}: compile the model again"
        )


def _refuse_constant(name: str) -> NoReturn:
    raise PackageError(f"holds the number {name}, which JSON does not have")


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PackageError(f"'{twice}' occurs twice in one object")
    return table
