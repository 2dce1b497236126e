"""Which program of a launch does which part of a kernel's grid."""

import math
from collections.abc import Callable

from ....dialects import tile
from ....dialects.core.errors import Unsupported
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.limits import at_least

AXES = 3
MOST_PROGRAMS = 2**31 - 1
MOST_PROGRAMS_BEHIND = 65535
"""Limit of the second and third axis of a launch. Source: CUDA C++ Programming Guide."""


def counts(kernel: tile.Kernel) -> tuple[Size, ...]:
    """Count the programs along each axis of the grid."""
    return tuple(axis.count(kernel.block_sizes) for axis in kernel.axes)


def is_flat(kernel: tile.Kernel) -> bool:
    """Return whether a launch has one axis for all of a grid: for bands, and for large grids."""
    behind = counts(kernel)[1:]
    large = len(behind) >= AXES or not all(_is_at_most(MOST_PROGRAMS_BEHIND, n) for n in behind)
    return bool(kernel.group) or large


def _is_at_most(limit: int, count: Size) -> bool:
    return at_least(limit, count) is True


def launch_grid(kernel: tile.Kernel) -> tuple[Size, Size, Size]:
    """Count the programs along each axis of a launch; raise Unsupported for too many.

    Counts that depend on symbols are checked when these are known.
    """
    found = counts(kernel)
    if at_least(MOST_PROGRAMS, math.prod(found)) is False:
        raise Unsupported(f"has {math.prod(found)} programs, a launch has {MOST_PROGRAMS} at most")
    if is_flat(kernel):
        return math.prod(found), 1, 1
    x, y, z = (*found, 1, 1, 1)[:AXES]
    return x, y, z


def program_lines(
    kernel: tile.Kernel, names: list[str], spelled: Callable[[Size], str]
) -> list[str]:
    """Print how a flat program number becomes one on each axis, which get these names.

    Without bands the first axis is walked first. `spelled` returns the spelling of a size.
    """
    sizes = [_size(axis, spelled) for axis in kernel.axes]
    if not kernel.group:
        return ["program = tl.program_id(0)", *_unravel("program", sizes, names)]
    lines = ["program = tl.program_id(0)"]
    plane = "program"
    if len(sizes) > 2:
        lines.append(f"plane = program % ({sizes[0]} * {sizes[1]})")
        lines.append(f"planes = program // ({sizes[0]} * {sizes[1]})")
        plane = "planes"
    inside = "plane" if len(sizes) > 2 else "program"
    band = f"({kernel.group} * {sizes[1]})"
    lines += [
        f"band_start = {inside} // {band} * {kernel.group}",
        f"band_height = tl.minimum({sizes[0]} - band_start, {kernel.group})",
        f"{names[0]} = band_start + {inside} % {band} % band_height",
        f"{names[1]} = {inside} % {band} // band_height",
    ]
    return [*lines, *_unravel(plane, sizes[2:], names[2:])]


RESERVED = ("program", "plane", "planes", "band_start", "band_height")
"""Names that `program_lines` uses."""


def _unravel(number: str, sizes: list[str], names: list[str]) -> list[str]:
    """Print the index along each axis of a flat number; the first axis varies fastest."""
    lines: list[str] = []
    inner: list[str] = []
    for position, (name, size) in enumerate(zip(names, sizes, strict=True)):
        product = " * ".join(inner)
        divisor = f"({product})" if len(inner) > 1 else product
        part = f"{number} // {divisor}" if inner else number
        last = position == len(sizes) - 1
        lines.append(f"{name} = {part}" if last else f"{name} = {part} % {size}")
        inner.append(size)
    return lines


def _size(axis: tile.GridAxis, spelled: Callable[[Size], str]) -> str:
    extent = spelled(axis.extent)
    return f"tl.cdiv({extent}, {axis.block})" if axis.block else extent
