"""Say for each node of a model whether it would run on a target, and why not.

Nothing is compiled. The exit code is 0 when all nodes run there, otherwise 1. What only brings
values to an accelerator, as bytes and back, may run elsewhere.
"""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=arguments.MODEL)
    arguments.add_compile_arguments(parser, fallback=False)


def run(flags: argparse.Namespace) -> int:
    """Print the report; a model that would not compile is an error that says why."""
    from ...compiler.check import can_run
    from ..report import verdict_report

    verdicts = can_run(flags.model, **arguments.compile_arguments(flags))
    print(verdict_report(verdicts, (flags.target or "cpu").partition(":")[0]))
    return 0 if all(verdict.runs for verdict in verdicts) else 1
