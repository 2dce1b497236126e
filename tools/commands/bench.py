"""Measure models beside ONNX Runtime and OpenVINO, or kernels beside the machine's limits.

All contenders run in this process, in turns, at f32 and on as many threads. Their outputs are
compared first; the exit code is 1 when one differs from the first peer by more than --tolerance.
One thread is judged by processor time, several by wall time; no time is ever an error. A peer that
is not installed is left out with a note.
"""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...dialects.core.errors import CompileError, Diagnostic
from ...runtime.errors import Fault
from .. import arguments
from ..progress import shown_progress

if TYPE_CHECKING:
    from ..bench.comparison import Comparison

PEERS = ("onnxruntime", "openvino")
ROUNDS, THREADS, TOLERANCE, SEED = 20, 1, 1e-3, 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", metavar="MODEL", nargs="+", help="an ONNX or PNNX model")
    parser.add_argument(
        "--against",
        metavar="PEER,...",
        type=peers,
        help=f"what to compare with, {','.join(PEERS)} unless said otherwise",
    )
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=arguments.count,
        help=f"how many turns each contender has, {ROUNDS} unless said otherwise",
    )
    parser.add_argument(
        "--threads",
        metavar="N",
        type=arguments.count,
        help=f"how many threads each contender has, {THREADS} unless said otherwise",
    )
    parser.add_argument(
        "--tolerance",
        metavar="ERROR",
        type=tolerance,
        help=f"allowed error as a part of the largest output, {TOLERANCE} unless said otherwise",
    )
    parser.add_argument("--seed", metavar="N", type=int, default=SEED, help="seed of the inputs")
    parser.add_argument(
        "--kernels", action="store_true", help="time each distinct kernel alone, without peers"
    )
    arguments.add_compile_arguments(parser)


def peers(text: str) -> tuple[str, ...]:
    """Read `onnxruntime,openvino`."""
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"'{name}' must be one of {', '.join(PEERS)}")
    return names


def tolerance(text: str) -> float:
    """Read a number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 0 on")
    return number


def run(flags: argparse.Namespace) -> None:
    """Measure model after model; what is wrong with one does not keep the others from it."""
    for path in flags.models:
        if arguments.is_package(path):
            flags.refuse(f"'{path}' is compiled already, the peers need the ONNX model")
    if flags.kernels:
        _refuse_peer_arguments(flags)
    faults: list[str] = []
    _each_kernel(flags, faults) if flags.kernels else _each_model(flags, faults)
    if faults:
        lines = [line for fault in faults for line in fault.splitlines()]
        raise CompileError([Diagnostic("", line) for line in lines])


def _refuse_peer_arguments(flags: argparse.Namespace) -> None:
    names = ("against", "rounds", "threads", "tolerance")
    given = [f"--{name}" for name in names if getattr(flags, name) is not None]
    if given:
        flags.refuse(f"{', '.join(given)}: --kernels times kernels alone, on one thread")


def _each_model(flags: argparse.Namespace, faults: list[str]) -> None:
    from ..bench.measurement import geometric_mean

    threads = flags.threads or THREADS
    ratios: list[float] = []
    for path in flags.models:
        try:
            comparison = _compare(path, flags, threads)
        except (CompileError, Fault) as error:
            faults.append(f"{path}: {error}")
            continue
        allowed = TOLERANCE if flags.tolerance is None else flags.tolerance
        faults += [f"{path}: {fault}" for fault in comparison.faults(allowed)]
        if standing := comparison.ratio():
            ratios.append(standing[1])
    if len(ratios) > 1:
        mean = geometric_mean(ratios)
        print(f"geometric mean over {len(ratios)} models: {mean:.3f}x, least {min(ratios):.3f}x")


def _compare(path: str, flags: argparse.Namespace, threads: int) -> "Comparison":
    from ..bench.comparison import compare, describe
    from ..bench.contenders import invite, ours
    from ..bench.prepare import prepare

    with shown_progress() as progress:
        prepared = prepare(path, progress, **arguments.compile_arguments(flags))
    feeds = prepared.inputs(flags.seed)
    came, notes = invite(flags.against or PEERS, path, feeds, threads)
    contenders = [ours(prepared.package, threads), *came]
    comparison = compare(contenders, feeds, flags.rounds or ROUNDS, threads)
    _print(
        f"{path}: {_threads(threads)}, {comparison.rounds} rounds",
        [*(f"note: {note}" for note in notes), *describe(comparison)],
    )
    return comparison


def _each_kernel(flags: argparse.Namespace, faults: list[str]) -> None:
    from ...dialects.core.machine import NATIVE, find_machines
    from ..bench.dispatch import measure_dispatch
    from ..bench.kernel_report import describe_kernels, describe_peaks
    from ..bench.kernels import time_kernels
    from ..bench.peaks import measure_peaks

    machine = find_machines(flags.machine or NATIVE)[0]
    peaks = measure_peaks(machine)
    print(describe_peaks(peaks))
    shared = measure_dispatch(machine) * 1e6
    print(f"two threads: {shared:.2f} us to share a phase of a kernel", end="\n\n")
    for path in flags.models:
        try:
            with shown_progress() as progress:
                options = arguments.compile_arguments(flags)
                kernels, others = time_kernels(path, progress, **options)
        except (CompileError, Fault) as error:
            faults.append(f"{path}: {error}")
            continue
        notes = [f"note: {others} steps run on the host, they are not in here"] if others else []
        _print(path, [*notes, *describe_kernels(kernels, peaks)])


def _print(title: str, lines: Sequence[str]) -> None:
    print(title, *(f"  {line}".rstrip() for line in lines), "", sep="\n", flush=True)


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"
