"""Run a package once, and tell what its parts on accelerators cost: cycles, bytes, a timeline.

A loadable of NVDLA (.nvdla) is run for the configuration that is given; its outputs are told too.

The accelerators are simulated, packet by packet, after their command streams were searched for
faults; steps of other kinds run as usual. A timeline is darker where an engine works more of the
time: blank where it waits, `@` where it does nothing but work.
"""

import argparse
from pathlib import Path

from .. import arguments
from ..reports.json_report import json_text

RANDOM = "random"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "package", metavar="PACKAGE", help="the package (.trv) or loadable (.nvdla) to run"
    )
    parser.add_argument(
        "--configuration",
        metavar="NAME",
        help="what a loadable runs on: nv_small, nv_large or nv_full",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        help="run packets in one of the orders that their waits allow, instead of the file's",
    )
    parser.add_argument(
        "--inputs",
        metavar="FILE.npz",
        default=RANDOM,
        help="the inputs by their names, or 'random', the default",
    )
    arguments.add_json_argument(parser)
    arguments.add_key_argument(parser)


def run(flags: argparse.Namespace) -> None:
    """Print a report for each step that an accelerator took; faults of a stream are errors."""
    if Path(flags.package).suffix == ".nvdla":
        _run_loadable(flags)
        return
    if flags.configuration is not None:
        flags.refuse("--configuration: for loadables of NVDLA (.nvdla) alone")
    from .. import feeds
    from ..reports.simulation import SimulationReport, simulate

    package = arguments.open_package(flags, flags.package)
    given = {} if flags.inputs == RANDOM else feeds.read_all(flags.inputs)
    if flags.inputs == RANDOM:
        given = feeds.complete(given, package.manifest.inputs, 0)
    done = simulate(package, given, flags.seed)
    if flags.json:
        report = SimulationReport(flags.package, tuple(each.report() for each in done))
        print(json_text("simulate", report))
    else:
        print("\n\n".join(each.text() for each in done))


def _run_loadable(flags: argparse.Namespace) -> None:
    from ...targets.dla.nvdla.configuration import find_configuration
    from ...targets.dla.nvdla.format.loadable import Loadable
    from .. import feeds
    from ..reports.loadable_simulation import simulate_loadable
    from ..reports.simulation import SimulationReport

    name: str | None = flags.configuration
    if name is None:
        flags.refuse("--configuration: a loadable does not say what it runs on")
        return
    if flags.seed is not None:
        flags.refuse("--seed: the operations of a loadable run in the firmware's order")
    arguments.refuse_key(flags, flags.package)
    file = Path(flags.package)
    loadable = Loadable.read(arguments.read_bytes(file), file.name)
    given = None if flags.inputs == RANDOM else feeds.read_all(flags.inputs)
    done = simulate_loadable(loadable, find_configuration(name), given)
    if flags.json:
        report = SimulationReport(flags.package, done.reports())
        print(json_text("simulate", report))
    else:
        print(done.text())
