"""Check that a manifest is sound: nothing in it lets code read or write out of bounds."""

import math

from .contents import (
    ABSENT,
    COMPLEX,
    FIRST_PORT,
    PREPARED,
    PROCESS,
    STATE_ENTRY,
    WEIGHTS,
    WEIGHTS_ENTRY,
    Buffer,
    Contents,
    Memory,
    MemorySpace,
    Port,
)
from .cores import MOST_THREADS
from .dtypes import itemsize
from .errors import PackageError
from .file.compression import SUFFIX as COMPRESSED
from .kinds import is_kind
from .manifest import Manifest
from .sizes.size_expressions import MOST_BYTES
from .step import Step, all_steps

_MAX_RANK = 64  # numpy's own limit
_MOST_SPACES = 64


def check(manifest: Manifest) -> None:
    """Raise PackageError where parts of the manifest do not fit together."""
    try:
        _check_program(manifest)
        for i, program in enumerate(manifest.exact):
            try:
                _check_program(program.manifest)
            except PackageError as error:
                raise PackageError(f"exact[{i}]: {error}") from None
        if manifest.exact or manifest.only_exact:
            from .sizes.exact_checks import check_exact

            check_exact(manifest)
    except PackageError as error:
        raise PackageError(f"manifest: {error}") from None


def _check_program(written: Manifest) -> None:
    manifest = _at_likely_sizes(written)
    _check_memory(manifest)
    sizes = _base_sizes(manifest, written.arenas_of_stages)
    for i, buffer in enumerate(manifest.buffers):
        _check_buffer(buffer, sizes, f"buffers[{i}]")
    _check_ports(written)
    _check_carried(written)
    _check_kept(written)
    _check_parts(manifest)
    _check_settings(written)
    for i, step in enumerate(manifest.steps):
        _check_step(step, manifest, written, f"steps[{i}]")
    for i, step in enumerate(manifest.load_steps):
        _check_load_step(step, manifest, f"load_steps[{i}]")


def _at_likely_sizes(written: Manifest) -> Manifest:
    if written.symbols:
        from .sizes.symbol_checks import check_symbols

        return check_symbols(written)
    if written.checks or written.regions or written.carried_arenas:
        raise PackageError(
            "'checks', 'regions' and 'carried_arenas' must be left out without symbols"
        )
    if finding := next((each for each in all_steps(written.steps) if each.begins_stages), None):
        raise PackageError(f"a step of kind '{finding.kind}' finds sizes, but there are no symbols")
    return written


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
    if extent > MOST_BYTES:
        raise PackageError(f"'{where}.shape' is {list(shape)}, more than any memory holds")
    return math.prod(shape) * width


def _check_kept(manifest: Manifest) -> None:
    """Raise PackageError unless each value that is kept is an output of its own."""
    free = {port.name for port in manifest.outputs} - {pair.output for pair in manifest.carried}
    for i, name in enumerate(manifest.kept):
        if name not in free:
            raise PackageError(
                f"'kept[{i}]' is '{name}', must be an output that is not carried, and there once"
            )
        free.remove(name)


def _check_carried(manifest: Manifest) -> None:
    """Raise PackageError unless each carried output is of the type of the input it becomes.

    What a session binds by itself has known sizes, and its initial value is stored.
    """
    inputs = {port.name: port for port in manifest.inputs}
    outputs = {port.name: port for port in manifest.outputs}
    stored = {entry.name: entry.size for entry in manifest.entries}.get(STATE_ENTRY, 0)
    for i, pair in enumerate(manifest.carried):
        output, port = outputs.get(pair.output), inputs.pop(pair.input, None)
        same = output and port and (output.shape, output.dtype) == (port.shape, port.dtype)
        free = output and any(type(size) is not int for size in output.shape)
        if not output or not port or not same or (free and pair.is_bound):
            raise PackageError(
                f"'carried[{i}]' is from '{pair.output}' to '{pair.input}', must be an output and "
                "an input of one type whose sizes are known, and each input once"
            )
        if pair.in_place:
            _check_in_place(manifest, output, port, f"carried[{i}]")
        if pair.initial is not None:
            size = size_bytes(output.shape, output.dtype, f"carried[{i}]")
            if not pair.is_bound or not 0 <= pair.initial <= stored - size:
                raise PackageError(
                    f"'carried[{i}].initial' is {pair.initial}, must be the place of {size} bytes "
                    f"in '{STATE_ENTRY}', which has {stored}"
                )


def _check_in_place(manifest: Manifest, output: Port, port: Port, where: str) -> None:
    """Raise PackageError unless an output is stored where the input is whose new value it is."""
    buffers = [manifest.buffers[each.buffer] for each in (output, port)]
    places = [(buffer.base, buffer.offset) for buffer in buffers]
    if places[0] != places[1]:
        raise PackageError(
            f"'{where}.in_place' is true, but output '{output.name}' is at {places[0]}, must be at "
            f"{places[1]}, where input '{port.name}' is"
        )


def _check_index(index: int, count: int, where: str, least: int = 0) -> None:
    if not least <= index < count:
        raise PackageError(f"'{where}' is {index}, must be at least {least} and below {count}")


def _check_memory(manifest: Manifest) -> None:
    names = [space.name for space in manifest.spaces]
    for i, name in enumerate(names):
        if not is_kind(name):
            raise PackageError(f"'spaces[{i}].name' is {name!r}, must look like 'gpu'")
    if len(names) > _MOST_SPACES or len({*names, PROCESS}) != len(names) + 1:
        raise PackageError(f"'spaces' are {names}, must have different names")
    stored = {entry.name: entry.size for entry in manifest.entries}
    _check_sizes(manifest.memory, WEIGHTS_ENTRY, stored, "memory")
    for i, space in enumerate(manifest.spaces):
        _check_sizes(space, space.weights_entry, stored, f"spaces[{i}]")


def _check_sizes(
    memory: Memory | MemorySpace, entry: str, stored: dict[str, int], where: str
) -> None:
    for name, size in vars(memory).items():
        if name != "name" and not 0 <= size <= MOST_BYTES:
            raise PackageError(f"'{where}.{name}' is {size}, must be from 0 to {MOST_BYTES}")
    is_compressed = entry not in stored and entry + COMPRESSED in stored
    if stored.get(entry, 0) != memory.weight_bytes and not is_compressed:
        raise PackageError(
            f"'{where}.weight_bytes' is {memory.weight_bytes}, '{entry}' has "
            f"{stored.get(entry, 0)} bytes"
        )


def _base_sizes(manifest: Manifest, staged: int) -> list[int]:
    memory = manifest.memory
    sizes = [memory.arena_bytes, memory.weight_bytes, memory.prepared_bytes]
    for kind, ports in (("inputs", manifest.inputs), ("outputs", manifest.outputs)):
        sizes += [size_bytes(p.shape, p.dtype, f"{kind}[{i}]") for i, p in enumerate(ports)]
    for space in manifest.spaces:
        sizes += [space.arena_bytes, space.weight_bytes]
    return sizes + [MOST_BYTES] * staged  # how large these are, `Evaluation` proves in each stage


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
        space = manifest.space_of(manifest.buffers[port.buffer].base)
        if space != PROCESS:
            raise PackageError(
                f"'outputs[{i}].buffer' is {port.buffer}, which is in memory '{space}', must "
                f"be copied to '{PROCESS}'"
            )


def _check_settings(manifest: Manifest) -> None:
    threads, cores = manifest.settings.threads, manifest.settings.cores
    if not 0 <= threads <= MOST_THREADS:
        raise PackageError(f"'settings.threads' is {threads}, must be from 0 to {MOST_THREADS}")
    if list(cores) != sorted({*cores}) or (cores and cores[0] < 0):
        raise PackageError(f"'settings.cores' is {list(cores)}, must be different, in order")


def _check_port(port: Port, manifest: Manifest, where: str) -> None:
    _check_index(port.buffer, len(manifest.buffers), f"{where}.buffer")
    buffer = manifest.buffers[port.buffer]
    pairs = (buffer.shape[:-1], COMPLEX.get(buffer.dtype)) if buffer.shape[-1:] == (2,) else None
    if (port.shape, port.dtype) not in ((buffer.shape, buffer.dtype), pairs):
        raise PackageError(
            f"'{where}' is {port.dtype}{list(port.shape)}, its buffer {port.buffer} is "
            f"{buffer.dtype}{list(buffer.shape)}"
        )


def _check_step(step: Step, manifest: Manifest, written: Manifest, where: str) -> None:
    """Check a step of a run, and the steps inside of it.

    `written` is the manifest as it is stored, `manifest` that at likely sizes.
    """
    _check_indices(step, manifest, where)
    _check_written(step, written, where)
    step.check(manifest, where)
    for name, inner in step.inner().items():
        for i, each in enumerate(inner):
            _check_step(each, manifest, written, f"{where}.{name}[{i}]")


def _check_indices(step: Step, manifest: Manifest, where: str) -> None:
    for kind, indices in (("operands", step.operands), ("results", step.results)):
        least = ABSENT if kind == "operands" else 0
        for i, index in enumerate(indices):
            _check_index(index, len(manifest.buffers), f"{where}.{kind}[{i}]", least)


def _check_parts(manifest: Contents) -> None:
    kinds = [part.kind for part in manifest.parts]
    for i, part in enumerate(manifest.parts):
        if kinds.index(part.kind) != i:
            raise PackageError(f"'parts[{i}].kind' is '{part.kind}', as is an earlier one")
        part.check(manifest)


def _check_written(step: Step, manifest: Contents, where: str) -> None:
    """Check that results are in an arena or an output."""
    for i, index in enumerate(step.results):
        base = manifest.buffers[index].base
        if not manifest.is_written(base):
            is_input = FIRST_PORT <= base < manifest.first_space
            owner = "an input" if is_input else "the weights"
            raise PackageError(f"'{where}.results[{i}]' is {index}, which would overwrite {owner}")


def _check_load_step(step: Step, manifest: Manifest, where: str) -> None:
    """Check a step that runs before there are inputs: it reads weights, it writes what is prepared.

    Native code does not list what it works on.
    """
    if not step.at_load:
        raise PackageError(f"'{where}.kind' is '{step.kind}', which cannot run at load")
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
    step.check(manifest, where)
