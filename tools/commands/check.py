"""Report where each op of a model would run, without compiling it.

What the target does not take is listed with the reason and runs on the host, by numpy. The exit
code is 0 for every model that compiles.
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
    from ..reports.json_report import json_text
    from ..reports.placement_report import describe_placements, placements_of

    placed, sizes = check_with_sizes(flags.model, arguments.checked_options(flags))
    report = placements_of(flags.model, arguments.target_name(flags), placed, sizes)
    print(json_text("check", report) if flags.json else describe_placements(report))
