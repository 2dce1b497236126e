"""Run a package, or compile a model and run it, and describe the outputs.

Inputs come from .npy files or, with --random, from a generator: floats are normally distributed,
whole numbers are 0 or 1. Sizes that may change are those of the files, or else the likely ones.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

from ...runtime.errors import RunError
from .. import arguments, feeds
from ..given_package import given_package

if TYPE_CHECKING:
    from ...runtime.session import Session

ALL = "*"
"""The pattern of all values."""

RUNS = 10
"""How many runs a profile is of."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=f"a package (.trv), or {arguments.MODEL}")
    parser.add_argument(
        "--input",
        metavar="NAME=FILE.npy",
        dest="input_files",
        type=arguments.file,
        action=arguments.Table,
        help="read an input from a file",
    )
    parser.add_argument(
        "--random",
        metavar="SEED",
        nargs="?",
        type=int,
        const=0,
        help="make up the inputs that no file gives",
    )
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
        help="write the outputs and the values that --keep names, all of them without it, to "
        "DIR/NAME.npy",
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

    package = given_package(flags, **({"keep": ALL} if flags.dump else {}))
    session = Session(package, threads=flags.threads, device=flags.device, memory=flags.memory)
    for name in set(flags.output_files) - {port.name for port in session.outputs}:
        known = ", ".join(f"'{port.name}'" for port in session.outputs)
        raise RunError(f"no output is named '{name}', there are {known}")
    given = feeds.read(flags.input_files)
    if flags.random is not None:
        ports = feeds.ports_of_run(session.manifest, given)
        given = feeds.complete(given, ports, flags.random)
    results = session.run(given)
    for name, path in sorted(flags.output_files.items()):
        feeds.write(path, results[name])
    if flags.dump:
        feeds.dump(flags.dump, results | {n: session.value(n) for n in session.manifest.kept})
    if not flags.json:
        for name, array in results.items():
            print(feeds.describe(name, array))
    if flags.profile or flags.chrome_trace or flags.json:
        _profile(session, given, flags)
    if flags.repeat:
        print(_measured(lambda: session.run(given), flags.repeat))


def _profile(session: "Session", given: feeds.Arrays, flags: argparse.Namespace) -> None:
    from ...dialects.core.files import replaced_file
    from ..reports.json_report import json_text
    from ..reports.profile_report import chrome_trace, describe_profile, profile_info

    profile = session.profile(given, runs=flags.profile or RUNS)
    info = profile_info(profile)
    if flags.chrome_trace:
        with replaced_file(flags.chrome_trace) as file:
            file.write(chrome_trace(profile).encode())
    print(json_text("run --profile", info) if flags.json else describe_profile(info))


def _measured(action: Callable[[], object], repeats: int) -> str:
    """Call `action` some times and report the time of a call."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1e3)
    return f"median {median(times):.3f} ms, min {min(times):.3f} ms of {repeats} runs"
