"""Check that a manifest is sound: nothing it says lets code read or write out of bounds."""

import math
import re

from .dtypes import itemsize
from .errors import PackageError
from .gpu.checks import check_codes, check_launches, check_present
from .manifest import (
    ABSENT,
    ALONE,
    ARENA,
    COMPLEX,
    DESCRIPTION,
    DEVICE_ARENA,
    FIRST_PORT,
    LOAD_KINDS,
    ON_DEVICE,
    PREPARED,
    WEIGHTS,
    Buffer,
    Manifest,
    Port,
    Step,
)

WEIGHTS_ENTRY = "weights.bin"
DEVICE_WEIGHTS_ENTRY = "device_weights.bin"
OP_NAME = re.compile(r"[a-z_]+\.[a-z][a-z0-9_]*")

_MAX_BYTES = 1 << 47  # user address space on x86-64
_MAX_RANK = 64  # numpy's own limit
_MOST_PHASES = 1 << 24
_DLA_RANK = 4


def check(manifest: Manifest) -> None:
    """Raise PackageError where parts of the manifest do not fit together."""
    try:
        _check_memory(manifest)
        sizes = _base_sizes(manifest)
        for i, buffer in enumerate(manifest.buffers):
            _check_buffer(buffer, sizes, f"buffers[{i}]")
        _check_ports(manifest)
        check_codes(manifest)
        for i, step in enumerate(manifest.steps):
            _check_step(step, manifest, f"steps[{i}]")
        for i, step in enumerate(manifest.load_steps):
            _check_load_step(step, manifest, f"load_steps[{i}]")
        _check_kernels(manifest)
    except PackageError as error:
        raise PackageError(f"manifest: {error}") from None


def size_bytes(shape: tuple[int, ...], dtype: str, where: str) -> int:
    """Return the bytes of a tensor; `where` names it in errors."""
    width = itemsize(dtype)
    if width is None:
        raise PackageError(f"'{where}.dtype' is '{dtype}', which no runtime knows")
    if len(shape) > _MAX_RANK:
        raise PackageError(f"'{where}.shape' has {len(shape)} dimensions, at most {_MAX_RANK}")
    if any(size < 0 for size in shape):
        raise PackageError(f"'{where}.shape' is {list(shape)}, sizes must not be negative")
    # A zero among huge sizes would hide them, and numpy refuses such a shape.
    extent = math.prod(size or 1 for size in shape) * width
    if extent > _MAX_BYTES:
        raise PackageError(f"'{where}.shape' is {list(shape)}, more than any memory holds")
    return math.prod(shape) * width


def _check_index(index: int, count: int, where: str, least: int = 0) -> None:
    if not least <= index < count:
        raise PackageError(f"'{where}' is {index}, must be at least {least} and below {count}")


def _check_memory(manifest: Manifest) -> None:
    memory = manifest.memory
    for name, size in vars(memory).items():
        if not 0 <= size <= _MAX_BYTES:
            raise PackageError(f"'memory.{name}' is {size}, must be from 0 to {_MAX_BYTES}")
    stored = {entry.name: entry.size for entry in manifest.entries}
    for name, entry, size in (
        ("weight_bytes", WEIGHTS_ENTRY, memory.weight_bytes),
        ("device_weight_bytes", DEVICE_WEIGHTS_ENTRY, memory.device_weight_bytes),
    ):
        if stored.get(entry, 0) != size:
            raise PackageError(
                f"'memory.{name}' is {size}, '{entry}' has {stored.get(entry, 0)} bytes"
            )


def _base_sizes(manifest: Manifest) -> list[int]:
    memory = manifest.memory
    sizes = [memory.arena_bytes, memory.weight_bytes]
    sizes += [memory.device_arena_bytes, memory.device_weight_bytes, memory.prepared_bytes]
    for kind, ports in (("inputs", manifest.inputs), ("outputs", manifest.outputs)):
        sizes += [size_bytes(p.shape, p.dtype, f"{kind}[{i}]") for i, p in enumerate(ports)]
    return sizes


def _check_buffer(buffer: Buffer, sizes: list[int], where: str) -> None:
    size = size_bytes(buffer.shape, buffer.dtype, where)
    width = itemsize(buffer.dtype) or 1
    _check_index(buffer.base, len(sizes), f"{where}.base")
    if buffer.offset < 0 or buffer.offset % width:
        raise PackageError(
            f"'{where}.offset' is {buffer.offset}, must be 0 or a multiple of {width} above it for "
            f"{buffer.dtype}"
        )
    room = sizes[buffer.base]
    if buffer.offset + size > room:
        raise PackageError(
            f"'{where}' ends at byte {buffer.offset + size}, its base {buffer.base} has {room}"
        )


def _check_ports(manifest: Manifest) -> None:
    for kind, ports in (("inputs", manifest.inputs), ("outputs", manifest.outputs)):
        names = [port.name for port in ports]
        for i, port in enumerate(ports):
            if names.index(port.name) != i:
                raise PackageError(f"'{kind}[{i}].name' is '{port.name}', as is an earlier one")
            _check_port(port, manifest, f"{kind}[{i}]")
    for i, port in enumerate(manifest.inputs):
        buffer = manifest.buffers[port.buffer]
        if (buffer.base, buffer.offset) != (FIRST_PORT + i, 0):
            raise PackageError(
                f"'inputs[{i}].buffer' is {port.buffer}, which lies at base {buffer.base} offset "
                f"{buffer.offset}, must lie at base {FIRST_PORT + i} offset 0"
            )
    for i, port in enumerate(manifest.outputs):
        if manifest.buffers[port.buffer].base in ON_DEVICE:
            raise PackageError(
                f"'outputs[{i}].buffer' is {port.buffer}, which is in the memory of the GPU, must "
                "be copied to the host"
            )


def _check_port(port: Port, manifest: Manifest, where: str) -> None:
    _check_index(port.buffer, len(manifest.buffers), f"{where}.buffer")
    buffer = manifest.buffers[port.buffer]
    pairs = (buffer.shape[:-1], COMPLEX.get(buffer.dtype)) if buffer.shape[-1:] == (2,) else None
    if (port.shape, port.dtype) not in ((buffer.shape, buffer.dtype), pairs):
        raise PackageError(
            f"'{where}' is {port.dtype}{list(port.shape)}, its buffer {port.buffer} is "
            f"{buffer.dtype}{list(buffer.shape)}"
        )


def _check_indices(step: Step, manifest: Manifest, where: str) -> None:
    for kind, indices in (("operands", step.operands), ("results", step.results)):
        least = ABSENT if kind == "operands" else 0
        for i, index in enumerate(indices):
            _check_index(index, len(manifest.buffers), f"{where}.{kind}[{i}]", least)


def _check_step(step: Step, manifest: Manifest, where: str) -> None:
    _check_indices(step, manifest, where)
    if step.kind == "cpu":
        _check_native_step(step, where)
    elif step.kind == "host":
        _check_host_step(step, manifest, where)
    elif step.kind == "copy":
        _check_copy(step, manifest, where)
    elif step.kind == "gpu":
        check_launches(step, manifest, where)
    elif step.kind == "dla":
        _check_dla_step(step, manifest, where)
    else:
        raise PackageError(
            f"'{where}.kind' is '{step.kind}', must be 'cpu', 'host', 'copy', 'gpu' or 'dla'"
        )
    if step.launches and step.kind != "gpu":
        raise PackageError(f"'{where}' is of kind '{step.kind}', but has launches")


def _check_load_step(step: Step, manifest: Manifest, where: str) -> None:
    """Check a step that runs before there are inputs: it reads weights, it writes what is prepared.

    Native code does not list what it works on.
    """
    if step.kind not in LOAD_KINDS:
        kinds = " or ".join(map(repr, LOAD_KINDS))
        raise PackageError(f"'{where}.kind' is '{step.kind}', must be {kinds}")
    _check_indices(step, manifest, where)
    for kind, indices, allowed in (
        ("operands", step.operands, (WEIGHTS, PREPARED)),
        ("results", step.results, (PREPARED,)),
    ):
        for i, index in enumerate(indices):
            if index != ABSENT and manifest.buffers[index].base not in allowed:
                raise PackageError(
                    f"'{where}.{kind}[{i}]' is {index}, must be a constant: it is used when the "
                    "package is loaded"
                )
    if step.kind == "cpu":
        _check_native_step(step, where)
    else:
        _check_host_call(step, where)


def _check_host_step(step: Step, manifest: Manifest, where: str) -> None:
    _check_host_call(step, where)
    _check_on_host(step, manifest, where)
    _check_written(step, manifest, where)


def _check_native_step(step: Step, where: str) -> None:
    if not step.symbol:
        raise PackageError(f"'{where}.symbol' is empty, must name a function")
    if not 0 <= step.phases <= _MOST_PHASES:
        raise PackageError(f"'{where}.phases' is {step.phases}, must be from 0 to {_MOST_PHASES}")


def _check_host_call(step: Step, where: str) -> None:
    if not OP_NAME.fullmatch(step.op):
        raise PackageError(f"'{where}.op' is '{step.op}', must look like 'dialect.op'")
    wanted = sum(1 if n == ALONE else n for n in step.groups)
    if step.groups and (min(step.groups) < ALONE or wanted != len(step.operands)):
        raise PackageError(
            f"'{where}.groups' is {list(step.groups)}, must divide {len(step.operands)} operands"
        )


def _check_on_host(step: Step, manifest: Manifest, where: str) -> None:
    for kind, indices in (("operands", step.operands), ("results", step.results)):
        for i, index in enumerate(indices):
            if index != ABSENT and manifest.buffers[index].base in ON_DEVICE:
                raise PackageError(
                    f"'{where}.{kind}[{i}]' is {index}, which is in the memory of the GPU, must be "
                    "copied to the host"
                )


def _check_dla_step(step: Step, manifest: Manifest, where: str) -> None:
    stored = {entry.name for entry in manifest.entries}
    if step.entry not in stored:
        raise PackageError(f"'{where}.entry' is '{step.entry}', which is not stored")
    if DESCRIPTION not in stored:
        raise PackageError(f"'{where}.kind' is 'dla', but the package has no '{DESCRIPTION}'")
    if not step.accelerator:
        raise PackageError(f"'{where}.accelerator' is empty, must name an accelerator")
    for kind, indices in (("operands", step.operands), ("results", step.results)):
        for i, index in enumerate(indices):
            buffer = None if index == ABSENT else manifest.buffers[index]
            if buffer is None or buffer.dtype != "int8" or len(buffer.shape) != _DLA_RANK:
                found = f"{buffer.dtype}{list(buffer.shape)}" if buffer else "absent"
                raise PackageError(f"'{where}.{kind}[{i}]' is {found}, must be int8 [N, H, W, C]")
    _check_on_host(step, manifest, where)
    _check_written(step, manifest, where)


def _check_written(step: Step, manifest: Manifest, where: str) -> None:
    for i, index in enumerate(step.results):
        base = manifest.buffers[index].base
        if base not in (ARENA, DEVICE_ARENA) and base < FIRST_PORT + len(manifest.inputs):
            owner = "the weights" if base < FIRST_PORT else "an input"
            raise PackageError(f"'{where}.results[{i}]' is {index}, which would overwrite {owner}")


def _check_copy(step: Step, manifest: Manifest, where: str) -> None:
    check_present(step, manifest, where)
    if len(step.operands) != 1 or len(step.results) != 1 or ABSENT in step.operands:
        raise PackageError(f"'{where}' is a copy, must have one operand and one result")
    _check_written(step, manifest, where)
    source, target = (manifest.buffers[i] for i in (*step.operands, *step.results))
    if (source.base in ON_DEVICE) == (target.base in ON_DEVICE):
        memory = "the memory of the GPU" if source.base in ON_DEVICE else "that of the host"
        raise PackageError(f"'{where}' copies within {memory}, must go from one to the other")
    if source.size_bytes != target.size_bytes:
        raise PackageError(
            f"'{where}' copies {source.size_bytes} bytes to a buffer of {target.size_bytes}"
        )


def _check_kernels(manifest: Manifest) -> None:
    entries = {entry.name for entry in manifest.entries}
    for i, kernel in enumerate(manifest.kernels):
        if kernel.object not in entries:
            raise PackageError(f"'kernels[{i}].object' is '{kernel.object}', which is not stored")
