"""Compile a model and save it as a package: one file that runs anywhere numpy does.

MODEL is an ONNX file. A package (.trv) is compiled again, for a machine.
"""

import argparse

from .. import arguments
from ..progress import shown_progress
from ..report import summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the model to compile")
    parser.add_argument(
        "-o", "--output", metavar="OUT.trv", type=arguments.package_path, required=True
    )
    arguments.add_compile_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Compile and save; nothing is written when either does not succeed."""
    from ...compiler.driver import build

    with shown_progress() as progress:
        package = build(flags.model, progress=progress, **arguments.compile_arguments(flags))
    package.save(flags.output)
    print(summary(flags.output, package.manifest))
