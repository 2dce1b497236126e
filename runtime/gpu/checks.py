"""Check the code for GPUs in a manifest: kernels, and the launches that call them."""

import re
from collections.abc import Sequence

from ..contents import Buffer, Contents
from ..dtypes import itemsize
from ..errors import PackageError
from .code import GpuCode, GpuKernel, GpuParameter, Launch
from .tensor_map import MAP_DTYPES

ARCHITECTURE = re.compile(r"sm_([1-9][0-9]{1,2})")

# What any GPU can do at most; a real one is asked before code is loaded.
GRID = ((1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1)
_MOST_WARPS = 32
_MOST_SHARED = 1 << 20
_MOST_DRIVER = 1 << 31

# What a tensor map asks for: the driver refuses the rest with nothing but "invalid argument".
_MAP_ALIGNMENT = 16
_MAP_RANK = 5
_MAP_BLOCK = 256

# By the number of a swizzle: how many bytes a row of a block may have.
_SWIZZLED = (_MAP_BLOCK << 4, 32, 64, 128)


def check_codes(codes: Sequence[GpuCode], contents: Contents) -> None:
    """Raise PackageError where code for a GPU does not fit together."""
    stored = {entry.name for entry in contents.entries}
    architectures = [code.architecture for code in codes]
    for i, code in enumerate(codes):
        where = f"gpu[{i}]"
        if not ARCHITECTURE.fullmatch(code.architecture):
            raise PackageError(
                f"'{where}.architecture' is '{code.architecture}', must look like 'sm_90'"
            )
        if architectures.index(code.architecture) != i:
            raise PackageError(
                f"'{where}.architecture' is '{code.architecture}', as is an earlier one"
            )
        _check_number(code.driver, 0, _MOST_DRIVER, f"{where}.driver")
        _check_kernels(code, stored, where)


def check_launches(
    launches: Sequence[Launch],
    codes: Sequence[GpuCode],
    contents: Contents,
    space: str,
    where: str,
) -> None:
    """Raise PackageError where a launch does not suit its kernel on some architecture.

    Its buffers must be in a memory space, that of the GPU.
    """
    if not codes:
        raise PackageError(f"'{where}.kind' is 'gpu', but the package has no code for a GPU")
    if not launches:
        raise PackageError(f"'{where}.launches' is empty, must have a launch")
    kernels = [_by_symbol(code) for code in codes]
    for i, launch in enumerate(launches):
        place = f"{where}.launches[{i}]"
        buffers = _buffers(launch, contents, space, place)
        if not 0 <= launch.results <= len(buffers):
            raise PackageError(
                f"'{place}.results' is {launch.results}, must be from 0 to {len(buffers)}"
            )
        for code, known in zip(codes, kernels, strict=True):
            if launch.kernel not in known:
                raise PackageError(
                    f"'{place}.kernel' is '{launch.kernel}', which {code.architecture} lacks"
                )
            parameters = dict.fromkeys(p for k in known[launch.kernel] for p in k.parameters)
            for parameter in parameters:
                _check_argument(parameter, buffers, contents, f"'{place}' for {code.architecture}")


def _by_symbol(code: GpuCode) -> dict[str, list[GpuKernel]]:
    """Return each kernel with the candidates for it."""
    found = {kernel.symbol: [kernel] for kernel in code.kernels}
    for candidate in code.candidates:
        found[candidate.symbol].append(candidate)
    return found


def _buffers(launch: Launch, manifest: Contents, space: str, where: str) -> list[Buffer]:
    for i, index in enumerate(launch.buffers):
        if not 0 <= index < len(manifest.buffers):
            raise PackageError(
                f"'{where}.buffers[{i}]' is {index}, must be at least 0 and below "
                f"{len(manifest.buffers)}"
            )
        if manifest.space_of(manifest.buffers[index].base) != space:
            raise PackageError(
                f"'{where}.buffers[{i}]' is {index}, which is not in the memory of the GPU"
            )
    return [manifest.buffers[index] for index in launch.buffers]


def _check_argument(
    parameter: GpuParameter, buffers: list[Buffer], contents: Contents, where: str
) -> None:
    if parameter.buffer >= len(buffers):
        raise PackageError(
            f"{where} needs buffer {parameter.buffer}, it passes {len(buffers)} buffers"
        )
    buffer = buffers[parameter.buffer]
    room = buffer.size_bytes
    extent = extent_bytes(parameter)
    # Sizes that a run finds are compared when it binds.
    if extent > room and not contents.stage_of(buffer.base):
        raise PackageError(
            f"{where} reads or writes {extent} bytes of '{buffer.name}', which has {room}"
        )
    if parameter.kind == "tensor_map" and buffer.offset % _MAP_ALIGNMENT:
        raise PackageError(
            f"{where} maps '{buffer.name}', whose offset {buffer.offset} must be a multiple of "
            f"{_MAP_ALIGNMENT}"
        )


def extent_bytes(parameter: GpuParameter) -> int:
    """Return the number of bytes that the kernel may access, if the parameter bounds them."""
    if not parameter.dtype or 0 in parameter.shape:
        return 0
    steps = zip(parameter.shape, parameter.strides, strict=True)
    return (1 + sum((n - 1) * stride for n, stride in steps)) * (itemsize(parameter.dtype) or 1)


def _check_kernels(code: GpuCode, stored: set[str], where: str) -> None:
    symbols = [kernel.symbol for kernel in code.kernels]
    for i, kernel in enumerate(code.kernels):
        place = f"{where}.kernels[{i}]"
        if symbols.index(kernel.symbol) != i:
            raise PackageError(f"'{place}.symbol' is '{kernel.symbol}', as is an earlier one")
        _check_kernel(kernel, stored, place)
    settings = [(kernel.symbol, kernel.setting) for kernel in code.candidates]
    for i, kernel in enumerate(code.candidates):
        place = f"{where}.candidates[{i}]"
        if kernel.symbol not in symbols:
            raise PackageError(f"'{place}.symbol' is '{kernel.symbol}', which no kernel is called")
        if not kernel.setting:
            raise PackageError(f"'{place}.setting' is empty, must say what the candidate is")
        if settings.index((kernel.symbol, kernel.setting)) != i:
            raise PackageError(f"'{place}.setting' is '{kernel.setting}', as is an earlier one")
        _check_kernel(kernel, stored, place)


def _check_kernel(kernel: GpuKernel, stored: set[str], place: str) -> None:
    if not kernel.function or "\0" in kernel.function:
        raise PackageError(f"'{place}.function' is '{kernel.function}', must name a function")
    if kernel.entry not in stored:
        raise PackageError(f"'{place}.entry' is '{kernel.entry}', which is not stored")
    _check_limits(kernel, place)
    for j, parameter in enumerate(kernel.parameters):
        _check_parameter(parameter, f"{place}.parameters[{j}]")


def _check_limits(kernel: GpuKernel, where: str) -> None:
    if len(kernel.grid) != len(GRID):
        raise PackageError(f"'{where}.grid' is {list(kernel.grid)}, must have {len(GRID)} sizes")
    least = 0 if kernel.sizes else 1
    for axis, (size, most) in enumerate(zip(kernel.grid, GRID, strict=True)):
        _check_number(size, least, most, f"{where}.grid[{axis}]")
    _check_number(kernel.warps, 1, _MOST_WARPS, f"{where}.warps")
    _check_number(kernel.shared_bytes, 0, _MOST_SHARED, f"{where}.shared_bytes")


def _check_parameter(parameter: GpuParameter, where: str) -> None:
    if parameter.kind not in ("pointer", "tensor_map"):
        raise PackageError(f"'{where}.kind' is '{parameter.kind}', must be pointer or tensor_map")
    if parameter.buffer < 0:
        raise PackageError(f"'{where}.buffer' is {parameter.buffer}, must not be negative")
    if len(parameter.strides) != len(parameter.shape):
        raise PackageError(
            f"'{where}.strides' is {list(parameter.strides)}, must have one for each size of "
            f"{list(parameter.shape)}"
        )
    if min((*parameter.shape, *parameter.strides), default=0) < 0:
        raise PackageError(f"'{where}' has negative sizes or strides")
    if parameter.dtype and itemsize(parameter.dtype) is None:
        raise PackageError(f"'{where}.dtype' is '{parameter.dtype}', which no runtime knows")
    if parameter.kind == "tensor_map":
        _check_map(parameter, where)
    elif parameter.shape and not parameter.dtype:
        raise PackageError(f"'{where}.dtype' is empty, must be that of the elements of its shape")
    elif parameter.block or parameter.swizzle:
        raise PackageError(f"'{where}' is a pointer, which has neither block nor swizzle")


def _check_map(parameter: GpuParameter, where: str) -> None:
    if parameter.dtype not in MAP_DTYPES:
        raise PackageError(
            f"'{where}.dtype' is '{parameter.dtype}', a tensor map takes {', '.join(MAP_DTYPES)}"
        )
    rank = len(parameter.shape)
    _check_number(rank, 1, _MAP_RANK, f"{where}.rank")
    if len(parameter.block) != rank:
        raise PackageError(
            f"'{where}.block' is {list(parameter.block)}, must have {rank} sizes as the tensor has"
        )
    for axis in range(rank):
        _check_number(parameter.shape[axis], 1, (1 << 31) - 1, f"{where}.shape[{axis}]")
        _check_number(parameter.block[axis], 1, _MAP_BLOCK, f"{where}.block[{axis}]")
    _check_number(parameter.swizzle, 0, len(_SWIZZLED) - 1, f"{where}.swizzle")
    width = itemsize(parameter.dtype) or 1
    *outer, inner = parameter.strides
    if inner != 1:
        raise PackageError(f"'{where}.strides' ends in {inner}, a tensor map must end in 1")
    for axis, stride in enumerate(outer):
        if stride * width % _MAP_ALIGNMENT or not 0 < stride * width < 1 << 40:
            raise PackageError(
                f"'{where}.strides[{axis}]' is {stride * width} bytes, must be a multiple of "
                f"{_MAP_ALIGNMENT} below {1 << 40}"
            )
    row, most = parameter.block[-1] * width, _SWIZZLED[parameter.swizzle]
    if row % _MAP_ALIGNMENT or row > most:
        raise PackageError(
            f"'{where}.block' ends in {row} bytes, must be a multiple of {_MAP_ALIGNMENT} up to "
            f"{most} with swizzle {parameter.swizzle}"
        )


def _check_number(number: int, least: int, most: int, where: str) -> None:
    if not least <= number <= most:
        raise PackageError(f"'{where}' is {number}, must be from {least} to {most}")
