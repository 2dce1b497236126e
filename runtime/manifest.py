"""Describe a package: what goes in and out, where every tensor lives, what runs in which order."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn, cast

from .dtypes import itemsize
from .errors import PackageError
from .schema import Attribute, decode, encode

FORMAT = "trivium"
VERSION = 7

# The first bases: memory of the host, memory of the device, then what is computed from the weights
# when the package is loaded; the inputs follow, then the outputs.
ARENA, WEIGHTS, DEVICE_ARENA, DEVICE_WEIGHTS, PREPARED, FIRST_PORT = range(6)
ON_DEVICE = (DEVICE_ARENA, DEVICE_WEIGHTS)

# The kinds of steps that a GPU takes part in.
ON_GPU = ("copy", "gpu")

LOAD_KINDS = ("cpu", "host")
"""The kinds of steps that may run when a package is loaded."""

ABSENT = -1
ALONE = -1

DESCRIPTION = "dla/description.toml"
"""The entry that describes the accelerator which the steps of kind `dla` are for."""

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

    @property
    def size_bytes(self) -> int:
        """Return how many bytes the tensor takes."""
        return math.prod(self.shape) * (itemsize(self.dtype) or 1)


@dataclass(frozen=True)
class Launch:
    """Run a kernel of the GPU; `buffers` are what its parameters count in."""

    kernel: str
    buffers: tuple[int, ...]
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """Do one thing, as `kind` says.

    | kind | what is done |
    |---|---|
    | `cpu` | the native function `symbol` is called |
    | `host` | the reference kernel of `op` is called |
    | `copy` | the bytes of the operand are brought to the result, in the other memory |
    | `gpu` | the launches are run in order, as one graph |
    | `dla` | `accelerator` runs the command stream in the container `entry`, on i8 [N, H, W, C] |

    `groups` says how operands are passed to a reference kernel: `ALONE` for one by itself, a count
    for that many as one list. Without it, every operand is passed by itself. `reason` says why a
    step is on the host and not on the package's target. `phases` is how often the threads that run
    a native function wait for one another; a function with none runs on one thread.
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
    launches: tuple[Launch, ...] = ()
    entry: str = ""
    accelerator: str = ""


@dataclass(frozen=True)
class Memory:
    """Say how much memory a run takes, and the least any plan could have taken for the arena.

    `thread_bytes` is what each thread takes besides, but for the first. `prepared_bytes` is what
    the load steps compute, with the memory they need meanwhile; all sessions of a package share it.
    What begins with `device` is memory of the GPU.
    """

    arena_bytes: int
    arena_lower_bound: int
    weight_bytes: int
    thread_bytes: int = 0
    device_arena_bytes: int = 0
    device_arena_lower_bound: int = 0
    device_weight_bytes: int = 0
    prepared_bytes: int = 0


@dataclass(frozen=True)
class Kernel:
    """Describe one compiled kernel: its object, what it computes, how often it is called.

    A run makes `calls` of them, loading the package makes `load_calls`.
    """

    symbol: str
    object: str
    nodes: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    calls: int = 1
    load_calls: int = 0


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
class GpuParameter:
    """Pass buffer number `buffer` of a launch to a kernel: its address, or a map of it.

    `kind` is `pointer` or `tensor_map`. A map (CUtensorMap) is of a tensor of `shape`, with
    `strides` in elements, read and written in blocks of shape `block`; `swizzle` is a number as
    CUtensorMapSwizzle has it. Shape, strides and dtype may be given of a pointer, too; they bound
    what the kernel reads and writes there.
    """

    kind: str
    buffer: int
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    dtype: str = ""
    block: tuple[int, ...] = ()
    swizzle: int = 0


@dataclass(frozen=True)
class GpuKernel:
    """Describe a kernel that was compiled for a GPU.

    `entry` holds the cubin, in which the kernel is called `function`; `source` holds the text it
    was made from. The function takes the parameters in order, then two null pointers; a map is
    followed by its shape as 32-bit numbers and its strides as 64-bit numbers. `grid` is how many
    programs run along x, y, z, each on `warps` warps of 32 threads with `shared_bytes` of shared
    memory. `registers` and `spills` (in registers) are of each thread. `blocks` are the sizes it
    was made with, as "BM=128"; `setting` is all that it was made with, as tuning files have it.
    """

    symbol: str
    entry: str
    function: str
    grid: tuple[int, ...]
    warps: int
    shared_bytes: int = 0
    registers: int = 0
    spills: int = 0
    parameters: tuple[GpuParameter, ...] = ()
    source: str = ""
    blocks: tuple[str, ...] = ()
    stages: int = 0
    triton: str = ""
    setting: str = ""


@dataclass(frozen=True)
class GpuCode:
    """Hold the kernels for one architecture, which is called as `sm_90`.

    `driver` is the least that cuDriverGetVersion must say for a driver to know such code, as 12000
    for CUDA 12.0; 0 where nobody knows. `candidates` are kernels as they might have been made, for
    tuning to measure: each has the symbol of the one that it could stand for.
    """

    architecture: str
    kernels: tuple[GpuKernel, ...]
    driver: int = 0
    candidates: tuple[GpuKernel, ...] = ()


@dataclass(frozen=True)
class DlaProgram:
    """Describe the command stream in the container `entry`, and what a run of it takes and moves.

    `sram_bytes` are those of the accelerator's memory that it uses, `sram_lower_bound` those that
    any plan needs for what is alive at once. `dram_bytes` are read from dram and written to it;
    `dram_bound` would be if no op left anything in that memory for another.
    """

    entry: str
    packets: int
    sram_bytes: int
    sram_lower_bound: int
    sram_capacity: int
    dram_bytes: int
    dram_bound: int


@dataclass(frozen=True)
class Math:
    """Record what code may do to numbers: `mode` is fast or strict.

    `winograd_error` is what a layer may lose by Winograd's method, relative to its largest output.
    `precision` is what f32 is computed in: f32, tf32, fp16 or bf16.
    """

    mode: str = "fast"
    winograd_error: float = 0.0
    precision: str = "f32"


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
    first one, and the functions of steps are there for each. Likewise it may hold code for several
    architectures of a GPU: all of them run the same launches, in the same buffers. `attempts` says
    of each schedule for an accelerator that did not fit why it did not.

    `load_steps` depend on no input. They run once, when the package is loaded, and compute
    constants that are smaller in the package than kernels read them: `prepared_bytes` of them.
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
    load_steps: tuple[Step, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    machines: tuple[CpuRequirements, ...] = (CpuRequirements(),)
    gpu: tuple[GpuCode, ...] = ()
    dla: tuple[DlaProgram, ...] = ()
    attempts: tuple[str, ...] = ()
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
        except ValueError as error:
            raise PackageError(f"manifest: is not JSON: {error}") from None
        except RecursionError:
            raise PackageError("manifest: is nested too deep") from None


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
