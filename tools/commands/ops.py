"""List the ops that models are made of, and what each target does with them.

One op alone is listed with its operands, attributes, results and the limits of targets.
"""

import argparse

from ...runtime.errors import RunError
from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="list ops with this in their names"
    )
    parser.add_argument("--target", metavar="NAME", default="", help="list the ops that one runs")
    arguments.add_json_argument(parser)


def run(flags: argparse.Namespace) -> None:
    """Print the ops; raise RunError where there are none of that name."""
    from ..reports.json_report import json_text
    from ..reports.op_table import describe_ops, ops_info, shipped_targets

    known = [target.name for target in shipped_targets()]
    if flags.target and flags.target not in known:
        raise RunError(f"no target is named '{flags.target}', there are {', '.join(known)}")
    info = ops_info(flags.name, flags.target)
    if not info.ops:
        raise RunError(f"no op has '{flags.name}' in its name")
    print(json_text("ops", info) if flags.json else describe_ops(info))
