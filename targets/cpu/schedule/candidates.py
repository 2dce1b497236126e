"""Which schedules an op may have, and which of them is expected to be the fastest."""

from collections.abc import Iterator

from ....dialects.core.machine import Machine
from ....dialects.cpu.winograd import TRANSFORMS
from .products import Product
from .schedule import PACKED, PANEL, WINOGRAD, Schedule
from .tiles import fits_registers, most_rows

ERRORS = {4: 6e-6, 2: 1e-6}
"""Errors of F(4x4) and F(2x2) that were measured, relative to the largest output of a layer."""


def is_possible(schedule: Schedule, product: Product, machine: Machine, error: float) -> bool:
    """Return whether a schedule computes a product, with no more error than is allowed."""
    if schedule.method == WINOGRAD:
        tile = schedule.rows
        allowed = tile == schedule.vectors and ERRORS.get(tile, error + 1) <= error
        return allowed and product.winograd_suits and min(product.image[-2:]) >= 2 * tile
    if not fits_registers(machine, schedule.rows, schedule.vectors):
        return False
    if schedule.method == PACKED:
        return not product.blocked
    return product.panels_suit


def candidates(product: Product, machine: Machine, error: float) -> list[Schedule]:
    """List the schedules worth a try, each once."""
    found = dict.fromkeys(_candidates(product, machine))
    return [s for s in found if is_possible(s, product, machine, error)]


def _candidates(product: Product, machine: Machine) -> Iterator[Schedule]:
    for tile in TRANSFORMS:
        yield Schedule(WINOGRAD, tile, tile)
    if product.is_conv and not product.blocked:
        yield from _tiles(PACKED, product.outputs, product.points, product, machine)
    if product.is_conv:
        yield from _tiles(PANEL, product.points, product.outputs, product, machine)
    else:
        yield from _tiles(PACKED, product.points, product.outputs, product, machine)


def _tiles(
    method: str, rows: int, columns: int, product: Product, machine: Machine
) -> Iterator[Schedule]:
    """Cut rows by columns into tiles that fill the registers, flat ones and wide ones."""
    across = -(-columns // machine.lanes(product.bits))
    widest = machine.registers // 4
    # Of a number of rows that changes, another one may be more than the likely one.
    changes = method == PACKED and not product.is_conv and not product.fixed
    for vectors in (2, 4, 1, 3, widest):
        most = most_rows(machine, vectors)
        if vectors <= across and (vectors < widest or (rows == 1 and not changes)):
            yield Schedule(method, most if changes else min(rows, most), vectors)
    if across >= 2:
        yield Schedule(method, min(rows, machine.registers // 4), 2)
