"""Measure models beside ONNX Runtime and OpenVINO, or kernels beside the machine's limits.

All contenders run in this process, in turns, at f32 and on as many threads. With --precision bf16,
OpenVINO computes in bf16 as well. Outputs are compared first; the exit code is 1 when one differs
from the first peer by more than --tolerance. One thread is judged by processor time, several by
wall time; no time is ever an error. A peer that is not installed is left out with a note.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from ...dialects.core.errors import CompileError, Diagnostic, Invalid
from ...runtime.errors import Fault
from ...targets.option import size_set
from .. import arguments
from ..progress import shown_progress
from ..reports.json_report import json_text

if TYPE_CHECKING:
    from ..bench.reports import BenchReport, KernelsOfModel, KernelsReport, ModelReport

PEERS = ("onnxruntime", "openvino")
ROUNDS, THREADS, TOLERANCE, SEED = 20, 1, 1e-3, 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models", metavar="MODEL", nargs="+", help="an ONNX (.onnx) or a PNNX (.param) model"
    )
    parser.add_argument(
        "--against",
        metavar="PEER,...",
        type=peers,
        help=f"peers to compare with, {','.join(PEERS)} by default",
    )
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=arguments.count,
        help=f"the turns of each contender, {ROUNDS} by default",
    )
    parser.add_argument(
        "--threads",
        metavar="N",
        type=arguments.count,
        help=f"the threads of each contender, {THREADS} by default",
    )
    parser.add_argument(
        "--rest",
        metavar="MS",
        type=not_negative,
        help="milliseconds before each turn: 3 by default with several threads, else none",
    )
    parser.add_argument(
        "--tolerance",
        metavar="ERROR",
        type=not_negative,
        help=f"allowed error as a part of the largest output, {TOLERANCE} by default",
    )
    parser.add_argument(
        "--at",
        metavar="NAME=SIZE[,NAME=SIZE...]",
        type=sizes,
        action="append",
        default=[],
        help="sizes of free dimensions to measure at, T=64,N=2, the others being likely ones; "
        "may be given several times",
    )
    parser.add_argument("--seed", metavar="N", type=int, default=SEED, help="seed of the inputs")
    parser.add_argument(
        "--kernels", action="store_true", help="time each distinct kernel alone, without peers"
    )
    arguments.add_json_argument(parser)
    arguments.add_compile_arguments(parser)


def peers(text: str) -> tuple[str, ...]:
    """Read `onnxruntime,openvino`."""
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"'{name}' must be one of {', '.join(PEERS)}")
    return names


def sizes(text: str) -> dict[str, int]:
    """Read `T=64,N=2`."""
    try:
        return size_set(text)
    except Invalid as error:
        raise argparse.ArgumentTypeError(f"'{text}' {error}") from None


def not_negative(text: str) -> float:
    """Read a number that is not negative, and finite."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < inf:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 0 on")
    return number


def run(flags: argparse.Namespace) -> None:
    """Measure model after model; an error of one does not stop the others."""
    for path in flags.models:
        if arguments.is_package(path):
            flags.refuse(f"'{path}' is compiled already, the peers need the ONNX model")
    if flags.kernels:
        _refuse_peer_arguments(flags)
    faults: list[Diagnostic] = []
    report = _each_kernel(flags, faults) if flags.kernels else _each_model(flags, faults)
    if flags.json:
        print(json_text("bench --kernels" if flags.kernels else "bench", report))
    if faults:
        raise CompileError(faults)


def _refuse_peer_arguments(flags: argparse.Namespace) -> None:
    names = ("against", "rounds", "rest", "threads", "tolerance")
    given = [f"--{name}" for name in names if getattr(flags, name) is not None]
    if given:
        flags.refuse(f"{', '.join(given)}: --kernels times kernels alone, on one thread")
    given = ["--at"] * bool(flags.at) + ["--exact"] * bool(flags.exact)
    if given:
        flags.refuse(f"{', '.join(given)}: --kernels needs sizes that --shape binds")


def _each_model(flags: argparse.Namespace, faults: list[Diagnostic]) -> "BenchReport":
    from ..bench.measurement import geometric_mean
    from ..bench.reports import BenchReport

    models: list[ModelReport] = []
    for path in flags.models:
        try:
            for report in _compare(path, flags):
                models.append(report)
                faults += [Diagnostic(_title(path, report.sizes), each) for each in report.faults]
        except (CompileError, Fault) as error:
            faults += _of_model(path, error)
    ratios = [model.ratio for model in models if model.ratio is not None]
    mean = geometric_mean(ratios) if ratios else None
    if len(ratios) > 1 and not flags.json:
        what = "sizes of models" if flags.at else "models"
        print(f"geometric mean over {len(ratios)} {what}: {mean:.3f}x, least {min(ratios):.3f}x")
    return BenchReport(tuple(models), mean)


def _of_model(path: str, error: CompileError | Fault) -> list[Diagnostic]:
    """Return what an error lists, each with the path of the model."""
    if isinstance(error, Fault):
        return [Diagnostic(path, str(error))]
    return [
        replace(each, where=f"{path}: {each.where}" if each.where else path)
        for each in error.diagnostics
    ]


def _compare(path: str, flags: argparse.Namespace) -> "Iterator[ModelReport]":
    """Compare all contenders on a model, at each of the sizes that were asked for."""
    from ...runtime.session import Session
    from ..bench.comparison import compare, describe
    from ..bench.contenders import invite, ours
    from ..bench.overhead import measure_overhead
    from ..bench.prepare import prepare
    from ..bench.reports import model_report

    threads = flags.threads or THREADS
    allowed = TOLERANCE if flags.tolerance is None else flags.tolerance
    rest = None if flags.rest is None else flags.rest / 1e3
    with shown_progress() as progress:
        options = arguments.compile_options(flags, progress)
        prepared = prepare(path, options)
    session = Session(prepared.package, threads=threads)
    mine = ours(session)
    for sizes in prepared.vectors(flags.at):
        feeds = prepared.inputs(flags.seed, sizes)
        peers = flags.against or PEERS
        came, notes = invite(peers, path, feeds, threads, options.element_type)
        comparison = compare([mine, *came], feeds, flags.rounds or ROUNDS, threads, rest)
        overhead = measure_overhead(session, feeds)
        if not flags.json:
            _print(
                f"{_title(path, sizes)}: {_threads(threads)}, {comparison.rounds} rounds",
                [
                    *(f"note: {note}" for note in notes),
                    *describe(comparison),
                    f"{overhead:.2%} of a run is in no kernel",
                ],
            )
        yield model_report(path, comparison, notes, allowed, sizes, overhead)


def _title(path: str, sizes: Mapping[str, int]) -> str:
    from ...runtime.sizes.values import spelled_sizes

    return f"{path} at {spelled_sizes(sizes)}" if sizes else path


def _each_kernel(flags: argparse.Namespace, faults: list[Diagnostic]) -> "KernelsReport":
    from ...dialects.core.machine import NATIVE, find_machines
    from ..bench.dispatch import measure_dispatch
    from ..bench.kernel_report import describe_kernels, describe_peaks
    from ..bench.kernels import time_kernels
    from ..bench.peaks import measure_peaks
    from ..bench.reports import kernels_of_model, kernels_report

    machine = find_machines(flags.machine or NATIVE)[0]
    peaks = measure_peaks(machine)
    shared = measure_dispatch(machine)
    if not flags.json:
        print(describe_peaks(peaks))
        print(f"two threads: {shared * 1e6:.2f} us to share a phase of a kernel", end="\n\n")
    models: list[KernelsOfModel] = []
    for path in flags.models:
        try:
            with shown_progress() as progress:
                options = arguments.compile_options(flags, progress)
                kernels, others = time_kernels(path, options)
        except (CompileError, Fault) as error:
            faults += _of_model(path, error)
            continue
        models.append(kernels_of_model(path, kernels, others, peaks))
        notes = [f"note: {others} steps run on the host, they are not in here"] if others else []
        if not flags.json:
            _print(path, [*notes, *describe_kernels(kernels, peaks)])
    return kernels_report(peaks, shared, models)


def _print(title: str, lines: Sequence[str]) -> None:
    print(title, *(f"  {line}".rstrip() for line in lines), "", sep="\n", flush=True)


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"
