"""Run a package, or compile a model and run it, and describe the outputs.

Inputs come from .npy files, from tensors of ONNX (.pb), or with --random from a generator: floats
are normally distributed, whole numbers are 0 or 1. Sizes that may change are those of the files, or
else the likely ones. Outputs are written to files of both kinds.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

from ...runtime.errors import RunError
from .. import arguments, feeds
from ..given_package import ALL, given_package

if TYPE_CHECKING:
    from ...runtime.observe.peaks import Peaks
    from ...runtime.session import Session

RUNS = 10
"""How many runs a profile is of."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=f"a package (.trv), or {arguments.MODEL}")
    arguments.add_input_arguments(parser)
    parser.add_argument(
        "--output",
        metavar="NAME=FILE.npy",
        dest="output_files",
        type=arguments.file,
        action=arguments.Table,
        help="write an output to a file",
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=arguments.count,
        help="run N more times and print the median and the least time",
    )
    parser.add_argument(
        "--dump",
        metavar="DIR",
        help="write the inputs, the outputs and the values that --keep names, all of them without "
        "it, to DIR/NAME.npy",
    )
    parser.add_argument(
        "--profile",
        metavar="N",
        nargs="?",
        type=arguments.count,
        const=RUNS,
        help=f"run N more times, {RUNS} by default, and print how long each kernel took",
    )
    parser.add_argument(
        "--peaks",
        metavar="TYPE=RATE,...",
        help="the peaks of a core that the profile is held against, f32=80,i8=300,copy=12 in "
        "GFLOP/s and GB/s; without it, they are measured here",
    )
    parser.add_argument(
        "--statistics",
        metavar="N",
        nargs="?",
        type=arguments.count,
        const=1,
        help="describe the numbers of outputs and of the values that --keep names, all of them "
        "without it, in N more runs",
    )
    parser.add_argument(
        "--chrome-trace", metavar="FILE", help="write the profile for chrome://tracing, too"
    )
    parser.add_argument(
        "--memory",
        metavar="STRATEGY",
        default="static",
        help="static, or plain, mru, bestfit or compact: how values get memory (docs/memory.md)",
    )
    arguments.add_json_argument(parser)
    arguments.add_load_arguments(parser)
    arguments.add_compile_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Run once, write and describe the outputs, then measure."""
    from ...runtime.session import Session

    wants_profile = flags.profile or flags.peaks or flags.chrome_trace
    if flags.statistics and flags.json and wants_profile:
        flags.refuse("--json prints one report: give --statistics or --profile")
    looks = flags.dump or flags.statistics
    package = given_package(flags, **({"keep": ALL} if looks else {}))
    session = Session(package, memory=flags.memory, **arguments.session_options(flags))
    for name in set(flags.output_files) - {port.name for port in session.outputs}:
        known = ", ".join(f"'{port.name}'" for port in session.outputs)
        raise RunError(f"no output is named '{name}', there are {known}")
    given = feeds.of_run(session.manifest, flags.input_files, flags.random)
    results = session.run(given)
    for name, path in sorted(flags.output_files.items()):
        feeds.write(path, results[name])
    if flags.dump:
        kept = {name: session.value(name) for name in session.manifest.kept}
        feeds.dump(flags.dump, given | results | kept)
    if not flags.json:
        for name, array in results.items():
            print(feeds.describe(name, array))
    if flags.statistics:
        _print_statistics(session, given, flags)
    if wants_profile or (flags.json and not flags.statistics):
        _profile(session, given, flags)
    if flags.repeat:
        print(_measured(lambda: session.run(given), flags.repeat))


def _profile(session: "Session", given: feeds.Arrays, flags: argparse.Namespace) -> None:
    from ...dialects.core.files import replaced_file
    from ..reports.json_report import json_text
    from ..reports.profile_report import chrome_trace, describe_profile, profile_info

    profile = session.profile(given, runs=flags.profile or RUNS, peaks=_peaks(flags.peaks))
    info = profile_info(profile)
    if flags.chrome_trace:
        with replaced_file(flags.chrome_trace) as file:
            file.write(chrome_trace(profile).encode())
    print(json_text("run --profile", info) if flags.json else describe_profile(info))


def _print_statistics(session: "Session", given: feeds.Arrays, flags: argparse.Namespace) -> None:
    from ..reports.json_report import json_text
    from ..reports.statistics_report import describe_statistics, statistics_info

    info = statistics_info(session.statistics(given, flags.statistics))
    print(json_text("run --statistics", info) if flags.json else describe_statistics(info))


def _peaks(declared: str | None) -> "Peaks | None":
    """Return the declared peaks, or those of this machine; None where no compiler measures them."""
    from ...dialects.core.extras import is_installed
    from ...runtime.observe.peaks import Peaks

    if declared is not None:
        return Peaks.declared(declared)
    if not is_installed("torch_mlir"):
        return None
    from ...dialects.core.machine import NATIVE, find_machines
    from ..bench.peaks import measure_peaks

    return measure_peaks(find_machines(NATIVE)[0])


def _measured(action: Callable[[], object], repeats: int) -> str:
    """Call `action` some times and report the time of a call."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1e3)
    return f"median {median(times):.3f} ms, min {min(times):.3f} ms of {repeats} runs"
