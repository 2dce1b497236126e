"""Report which nodes of a model would run on a target, and why others would not.

Nothing is compiled. The exit code is 0 when all nodes run there, otherwise 1. What only brings
values to an accelerator, as bytes and back, may run elsewhere.
"""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=arguments.MODEL)
    arguments.add_json_argument(parser)
    arguments.add_compile_arguments(parser, without=["strict"])


def run(flags: argparse.Namespace) -> int:
    """Print the report; raise CompileError, with the reason, for a model that does not compile."""
    from ...compiler.check import can_run_with_sizes
    from ..reports.json_report import json_text
    from ..reports.placement_report import describe_nodes, node_reports_of

    nodes, sizes = can_run_with_sizes(flags.model, arguments.checked_options(flags))
    report = node_reports_of(flags.model, arguments.target_name(flags), nodes, sizes)
    print(json_text("can-run", report) if flags.json else describe_nodes(report))
    return 0 if report.able == len(report.nodes) else 1
