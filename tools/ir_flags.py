"""The flags of `trivium compile` that show the IR between passes, spelled as MLIR's."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..passes.pipeline import Instrumentation


def add_ir_arguments(parser: argparse.ArgumentParser) -> None:
    """Add flags that print the IR to standard error, or write it to a folder."""
    group = parser.add_argument_group("the IR between passes")
    for when in ("before", "after"):
        group.add_argument(
            f"--print-ir-{when}",
            metavar="PASS[,PASS...]",
            type=_names,
            default=[],
            help=f"print the IR {when} these passes to standard error",
        )
        group.add_argument(
            f"--print-ir-{when}-all", action="store_true", help=f"print it {when} every pass"
        )
    group.add_argument(
        "--ir-dir",
        metavar="FOLDER",
        type=Path,
        help="write the IR after every pass to a numbered file of a folder",
    )


def given_ir_arguments(flags: argparse.Namespace) -> list[str]:
    """List which of the flags were given, as the user wrote them."""
    names = ("print_ir_before", "print_ir_before_all", "print_ir_after", "print_ir_after_all")
    given = [name for name in (*names, "ir_dir") if getattr(flags, name)]
    return [f"--{name.replace('_', '-')}" for name in given]


def ir_hooks(flags: argparse.Namespace) -> "tuple[Instrumentation, ...]":
    """Return the instrumentation that prints IR as the flags select."""
    from ..passes.instrumentation import EVERY, PrintIr, WriteIr

    before = [EVERY] if flags.print_ir_before_all else flags.print_ir_before
    after = [EVERY] if flags.print_ir_after_all else flags.print_ir_after
    printing = (PrintIr(before, after),) if before or after else ()
    return (*printing, *((WriteIr(flags.ir_dir),) if flags.ir_dir else ()))


def _names(text: str) -> list[str]:
    return text.split(",")
