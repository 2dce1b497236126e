"""Estimate the time of a kernel with a setting, and whether a GPU can run it, from its IR.

The model is a roofline for each multiprocessor. A program takes as long as its products, its other
operations or its loads do, whichever is the longest, but at least the latency of its iterations;
programs that share a multiprocessor share its rates, and the whole kernel shares the memory. It is
for ranking settings of one kernel, not for predicting times.
"""

from ....dialects import tile
from ....dialects.tile.setting import Setting
from ....dialects.tile.types import FLOAT8
from .architecture import Architecture
from .work import Work, work_of

MOST_ELEMENTS = 1 << 20
"""The elements that a tile of Triton may have."""

MOST_THREADS = 1024
"""The threads that a program may have."""

REGISTERS = 255
"""The registers that a thread may have."""

_RATES = {"f16": 1.0, "bf16": 1.0, "tf32": 0.5, **dict.fromkeys(("i8", "ui8", *FLOAT8), 2.0)}
"""Rates of matrix units, relative to that of f16."""

_LOAD_RATE = 64
"""Bytes that a multiprocessor loads in a clock, from caches."""

_LATENCY = 0.6
"""Microseconds from a load to its use, from memory."""

_EXPOSED = 0.25
"""The part of short work that does not overlap with waiting."""

_START = 2.0
"""Microseconds that starting a kernel takes."""

_BASE_REGISTERS = 32
"""Registers of a thread for addresses."""

_SPILL_COST = 4.0
"""The slowdown of a program whose accumulators do not fit in registers."""

_FEW_ROWS = 64
"""With fewer rows, warps do not multiply together."""

_ALONE_RATE = 0.6
"""The part of the rate of products that single warps reach where groups of warps reach all."""


def rejection(kernel: tile.Kernel, setting: Setting, architecture: Architecture) -> str | None:
    """Return why a kernel is not expected to run with a setting; None when it is."""
    work = work_of(kernel, setting)
    threads = setting.warps * architecture.warp_size
    needed = _shared_bytes(work, setting, architecture)
    if threads > MOST_THREADS:
        return f"a program has {threads} threads, must have {MOST_THREADS} at most"
    if work.largest > MOST_ELEMENTS:
        return f"a tile has {work.largest} elements, must have {MOST_ELEMENTS} at most"
    if needed > architecture.shared_bytes:
        return (
            f"a program needs about {needed} bytes of shared memory, "
            f"{architecture.name} has {architecture.shared_bytes}"
        )
    return None


def shared_bytes(kernel: tile.Kernel, setting: Setting, architecture: Architecture) -> int:
    """Return the shared memory that a program of a kernel is expected to take with a setting.

    That is for the factors of products, once for each stage of the loop that loads them, and for
    blocks that descriptors store. A factor that passes through registers needs one stage less.
    """
    return _shared_bytes(work_of(kernel, setting), setting, architecture)


def _shared_bytes(work: Work, setting: Setting, architecture: Architecture) -> int:
    through_registers = not _warps_multiply_together(work, setting, architecture)
    staged = sum(size * max(1, stages - through_registers) for size, stages in work.staged)
    return staged + work.moved


def _warps_multiply_together(work: Work, setting: Setting, architecture: Architecture) -> bool:
    """Return whether products are of whole groups of warps, with factors in shared memory."""
    suited = all(dtype in architecture.products for dtype in work.products)
    return architecture.warp_groups and suited and work.rows >= _FEW_ROWS and setting.warps >= 4


def estimate_us(kernel: tile.Kernel, setting: Setting, architecture: Architecture) -> float:
    """Return about how many microseconds a kernel takes with a setting."""
    work = work_of(kernel, setting)
    if not work.programs:
        return _START
    busy = min(work.programs, architecture.multiprocessors)
    resident = min(_resident(work, setting, architecture), -(-work.programs // busy))
    clocks = max(_arithmetic(work, setting, architecture), _loads(work))
    alone = clocks / (architecture.gigahertz * 1e3)
    single = _overlapped(alone, work.iterations, setting.stages) + _LATENCY
    # The last wave does not fill the GPU.
    waves = -(-work.programs // (architecture.multiprocessors * resident))
    moved = min(work.programs * (work.loaded_bytes + work.stored_bytes), work.buffer_bytes)
    memory = moved / (architecture.memory_rate * 1e3)
    return _START + max(waves * max(single, resident * alone), memory)


def _overlapped(alone: float, iterations: float, stages: int) -> float:
    """Return the time of a program by itself: its work, and its waiting.

    Loads start `stages - 1` iterations ahead; short work overlaps with waiting only partly.
    """
    if stages < 2:
        return alone + iterations * _LATENCY
    waiting = iterations * _LATENCY / (stages - 1)
    return alone if alone >= waiting else waiting + alone * _EXPOSED


def _arithmetic(work: Work, setting: Setting, architecture: Architecture) -> float:
    """Return the clocks that a multiprocessor takes for the arithmetic of one program."""
    vector_rate = 2 * architecture.lanes
    clocks = work.operations / architecture.lanes
    together = _warps_multiply_together(work, setting, architecture)
    share = _ALONE_RATE if architecture.warp_groups and not together else 1.0
    share *= min(1.0, setting.warps / 4)
    for dtype, count in work.products.items():
        if dtype not in architecture.products:
            clocks += count / (vector_rate / (2 if dtype == "f64" else 1))
            continue
        rate = architecture.product_rate * _RATES[dtype]
        clocks += count / (rate * share)
    return clocks * (_SPILL_COST if _registers(work, setting, architecture) > REGISTERS else 1)


def _loads(work: Work) -> float:
    return (work.loaded_bytes + work.stored_bytes) / _LOAD_RATE


def _registers(work: Work, setting: Setting, architecture: Architecture) -> float:
    """Return about how many registers a thread needs for loop-carried values."""
    threads = setting.warps * architecture.warp_size
    return _BASE_REGISTERS + work.carried / 4 / threads


def _resident(work: Work, setting: Setting, architecture: Architecture) -> int:
    """Return how many programs a multiprocessor is expected to run at once."""
    threads = setting.warps * architecture.warp_size
    registers = min(REGISTERS, _registers(work, setting, architecture))
    memory = _shared_bytes(work, setting, architecture) + architecture.reserved_bytes
    return max(
        1,
        min(
            architecture.registers // int(registers * threads),
            architecture.multiprocessor_bytes // memory if memory else architecture.blocks,
            architecture.threads // threads,
            architecture.blocks,
        ),
    )
