"""Report which sizes of a model are free, and which exact ones would be worth it.

Nothing is compiled. With a file of observed sizes, those are listed whose own programs would save
most: how often they occur times what a kernel for any size is estimated to lose.
"""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=arguments.MODEL)
    parser.add_argument(
        "--observed",
        metavar="FILE",
        help='sizes of runs: lines of JSON such as {"x": [1, 77], "count": 3}, or a .csv whose '
        "columns are sizes (T), axes of inputs (x.1) and count",
    )
    arguments.add_json_argument(parser)
    arguments.add_compile_arguments(parser, without=["exact"])


def run(flags: argparse.Namespace) -> None:
    """Print the report; raise CompileError for a model, or a file, that cannot be read."""
    from ...compiler.sizes.observed import read_observed
    from ...compiler.sizes.report import size_report
    from ..reports.json_report import json_text
    from ..reports.sizes_report import describe_sizes, sizes_info

    observed = read_observed(flags.observed) if flags.observed else ()
    report = size_report(flags.model, arguments.checked_options(flags), observed)
    info = sizes_info(flags.model, report)
    print(json_text("sizes", info) if flags.json else describe_sizes(info))
