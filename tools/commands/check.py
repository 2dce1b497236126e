"""Report where each op of a model would run, without compiling it.

What the target does not take is listed with the reason and runs on the host, by numpy. The last
line says how ops were given to targets; with --placement cost, or a policy of yours, the estimates
by which it weighs them are listed. The exit code is 0 for every model that compiles.
"""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=arguments.MODEL)
    arguments.add_json_argument(parser)
    arguments.add_compile_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Print the report; raise CompileError, with the reason, for a model that does not compile."""
    from ...compiler.check import check_with_sizes
    from ...targets.placement.policies import ENGINE_ORDER
    from ...targets.registry import choose_targets
    from ..reports.json_report import json_text
    from ..reports.placement_report import describe_placements, placements_of

    options = arguments.checked_options(flags)
    shown = flags.json or options.placement != ENGINE_ORDER
    placed, sizes = check_with_sizes(flags.model, options, estimates=shown)
    order = tuple(target.name for target in choose_targets(options.target))
    names = flags.model, arguments.target_name(flags)
    report = placements_of(*names, placed, sizes, options.placement, order)
    print(json_text("check", report) if flags.json else describe_placements(report))
