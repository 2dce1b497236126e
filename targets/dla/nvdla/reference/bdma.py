"""The bridge DMA: copies of lines between memories, in two nested repetitions."""

import numpy as np
import numpy.typing as npt

from ..format.operations import Transfer

Bytes = npt.NDArray[np.uint8]
LINE_UNIT = 32
"""Lines are copied in units of this many bytes."""


def transfer_fault(transfer: Transfer) -> str | None:
    """Explain what the firmware refuses of a transfer, None if it accepts all."""
    if not transfer.line_size or transfer.line_size % LINE_UNIT:
        return f"has lines of {transfer.line_size} bytes, must be a multiple of {LINE_UNIT}"
    if not (transfer.line_repeat and transfer.surface_repeat):
        return "has no lines or no surfaces, must have some"
    for end in ("source", "destination"):
        line: int = getattr(transfer, f"{end}_line")
        surface: int = getattr(transfer, f"{end}_surface")
        if line < transfer.line_size:
            return f"has '{end}_line' {line}, must be {transfer.line_size} or more"
        if surface < line * transfer.line_repeat:
            return f"has '{end}_surface' {surface}, must be {line * transfer.line_repeat} or more"
    return None


def extent(transfer: Transfer, line: int, surface: int) -> int:
    """Return the bytes from the first to the last one that one end of a transfer uses."""
    last = (transfer.surface_repeat - 1) * surface + (transfer.line_repeat - 1) * line
    return last + transfer.line_size


def transfer_bytes(transfer: Transfer) -> int:
    """Return the bytes that a transfer copies."""
    return transfer.line_size * transfer.line_repeat * transfer.surface_repeat


def copy(source: Bytes, destination: Bytes, transfer: Transfer) -> None:
    """Copy the lines of a transfer; both arrays have the `extent` of their end, or more."""
    for surface in range(transfer.surface_repeat):
        for line in range(transfer.line_repeat):
            start = surface * transfer.source_surface + line * transfer.source_line
            to = surface * transfer.destination_surface + line * transfer.destination_line
            data = source[start : start + transfer.line_size].copy()
            destination[to : to + transfer.line_size] = data
