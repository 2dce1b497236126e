"""Describe the kernels of a model beside what the machine can do at most."""

from collections.abc import Sequence

from ...dialects.core.tensor import Tensor
from ...runtime.observe.peaks import Peaks
from ...runtime.spelling import spell_size
from ...targets.costs.flops import is_missing
from ..spelling import columns
from .kernels import KernelTime

_HEAD = ("us", "calls", "share", "GOP/s", "of peak", "GB/s", "of copy", "")


def describe_kernels(kernels: Sequence[KernelTime], peaks: Peaks) -> list[str]:
    """Return a row for each kernel, those that take most time first, and the sum."""
    total = sum(kernel.total for kernel in kernels)
    rows = [(*_rates(kernel, total, peaks), _what(kernel)) for kernel in kernels]
    # The last column is text: flush left, so not the table's business.
    lines = columns([_HEAD[:-1], *(row[:-1] for row in rows)], "", left=0)
    lines = [
        f"{line}  {what}".rstrip() for line, what in zip(lines, ["", *_last(rows)], strict=True)
    ]
    missing = sorted({op for kernel in kernels for op in kernel.work.ops if is_missing(op)})
    notes = [f"note: targets/costs/flops.py does not count {op}" for op in missing]
    work = sum(kernel.work.flops * kernel.calls for kernel in kernels)
    least = sum(k.work.flops * k.calls / peaks.rate(k.work.multiplies) for k in kernels)
    calls = sum(kernel.calls for kernel in kernels)
    return [
        *notes,
        *lines,
        f"{calls} calls of {len(kernels)} kernels take {total * 1e3:.2f} ms, "
        f"{_ratio(work, total) / 1e9:.1f} GOP/s, {_ratio(least, total):.0%} of the peak",
    ]


def describe_peaks(peaks: Peaks) -> str:
    """Return a line with what one core does at most."""
    copies = ", ".join(
        f"{rate / 1e9:.1f} GB/s in {spell_size(size)}"
        for size, rate in peaks.bytes_per_second.items()
    )
    rates = ", ".join(
        f"{rate / 1e9:.1f} {'GOP/s' if dtype == 'i8' else 'GFLOP/s'} of {dtype}"
        for dtype, rate in peaks.operations_per_second.items()
    )
    return f"one core: {rates}; copies {copies}"


def _last(rows: Sequence[Sequence[str]]) -> list[str]:
    return [row[-1] for row in rows]


def _rates(kernel: KernelTime, total: float, peaks: Peaks) -> tuple[str, ...]:
    work = kernel.work
    rate = _ratio(work.flops, kernel.seconds)
    moved = _ratio(work.moved_bytes, kernel.seconds)
    arithmetic = (f"{rate / 1e9:.1f}", f"{rate / peaks.rate(work.multiplies):.0%}")
    return (
        f"{kernel.seconds * 1e6:.1f}",
        str(kernel.calls),
        f"{_ratio(kernel.total, total):.1%}",
        *(arithmetic if work.flops else ("-", "-")),
        f"{moved / 1e9:.1f}",
        f"{moved / peaks.bandwidth(work.moved_bytes):.0%}",
    )


def _what(kernel: KernelTime) -> str:
    ops = " + ".join(op.partition(".")[2] for op in kernel.work.ops)
    return f"{ops}  {', '.join(map(_spell, kernel.tensors[:-1]))} -> {_spell(kernel.tensors[-1])}"


def _spell(tensor: Tensor) -> str:
    return str(tensor).removeprefix("tensor<").removesuffix(">")


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0
