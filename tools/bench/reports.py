"""The data of `trivium bench --json`: comparisons of contenders, and kernels beside peaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...runtime.observe.peaks import Peaks
from .comparison import Comparison
from .kernels import KernelTime
from .measurement import Summary


@dataclass(frozen=True)
class ContenderReport:
    """Hold the times of a contender in ms; `error` is None for the reference."""

    name: str
    cpu_ms: Summary
    wall_ms: Summary
    error: float | None


@dataclass(frozen=True)
class ModelReport:
    """Compare contenders on a model, at some sizes of its free dimensions.

    With a ratio above 1 Trivium is faster than the best peer. Ratios are of medians and of least
    times; they are None without a peer. `faults` lists the contenders that differ from the
    reference by more than the tolerance. `overhead` is the part of a run that is in no kernel.
    """

    file: str
    threads: int
    rounds: int
    calls: int
    rest_ms: float
    clock: str
    reference: str
    notes: tuple[str, ...]
    contenders: tuple[ContenderReport, ...]
    best_peer: str | None
    ratio: float | None
    least_ratio: float | None
    faults: tuple[str, ...]
    sizes: dict[str, int]
    overhead: float


@dataclass(frozen=True)
class BenchReport:
    """Hold the comparisons of all models; the mean is None without peers."""

    models: tuple[ModelReport, ...]
    geometric_mean: float | None


@dataclass(frozen=True)
class KernelReport:
    """Hold the seconds of one call of a kernel, its operations and the bytes it moves."""

    symbol: str
    ops: tuple[str, ...]
    tensors: tuple[str, ...]
    calls: int
    seconds: float
    operations: int
    bytes: int
    of_peak: float | None
    of_copy: float


@dataclass(frozen=True)
class KernelsOfModel:
    """Hold the kernels of a model, those that take most time first."""

    file: str
    host_steps: int
    kernels: tuple[KernelReport, ...]


@dataclass(frozen=True)
class KernelsReport:
    """Hold the peaks of one core, and the kernels of all models beside them.

    `operations_per_second` is by element type, `copied_bytes_per_second` by the size of a copy.
    `dispatch_seconds` is the time in which two threads share a phase of a kernel.
    """

    operations_per_second: dict[str, float]
    copied_bytes_per_second: dict[str, float]
    dispatch_seconds: float
    models: tuple[KernelsOfModel, ...]


def model_report(
    file: str,
    comparison: Comparison,
    notes: Sequence[str],
    tolerance: float,
    sizes: Mapping[str, int],
    overhead: float,
) -> ModelReport:
    """Report a comparison of contenders on a model, at some sizes."""
    contenders = tuple(
        ContenderReport(name, timing.cpu, timing.wall, comparison.errors.get(name))
        for name, timing in comparison.timings.items()
    )
    return ModelReport(
        file,
        comparison.threads,
        comparison.rounds,
        comparison.calls,
        comparison.rest * 1e3,
        comparison.clock,
        comparison.reference,
        tuple(notes),
        contenders,
        *(comparison.ratio() or (None, None, None)),
        tuple(comparison.faults(tolerance)),
        dict(sizes),
        overhead,
    )


def kernels_of_model(
    file: str, kernels: Sequence[KernelTime], host_steps: int, peaks: Peaks
) -> KernelsOfModel:
    """Report the times of a model's kernels."""
    return KernelsOfModel(file, host_steps, tuple(_kernel(kernel, peaks) for kernel in kernels))


def kernels_report(
    peaks: Peaks, dispatch_seconds: float, models: Sequence[KernelsOfModel]
) -> KernelsReport:
    """Report all models beside the peaks of a core."""
    copies = {str(size): rate for size, rate in peaks.bytes_per_second.items()}
    rates = dict(peaks.operations_per_second)
    return KernelsReport(rates, copies, dispatch_seconds, tuple(models))


def _kernel(kernel: KernelTime, peaks: Peaks) -> KernelReport:
    work = kernel.work
    rate = work.flops / kernel.seconds
    moved = work.moved_bytes / kernel.seconds
    return KernelReport(
        kernel.symbol,
        work.ops,
        tuple(map(str, kernel.tensors)),
        kernel.calls,
        kernel.seconds,
        work.flops,
        work.moved_bytes,
        rate / peaks.rate(work.multiplies) if work.flops else None,
        moved / peaks.bandwidth(work.moved_bytes),
    )
