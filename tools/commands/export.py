"""Write a model, a package or IR in a format of other tools: ONNX, PNNX or MLIR.

MODEL is an ONNX or PNNX file, a package (.trv), or IR (.mlir, .mlirbc). A model is written as it
was imported, or with --opt-level as the passes leave it, so that others can judge them. PNNX
weights go to a .bin beside OUT, those of IR to a .weights.npz.
"""

import argparse

from ...targets.choices import AS_GIVEN
from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="what to write")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help=arguments.WRITTEN,
    )
    parser.add_argument(
        "--format",
        metavar="NAME",
        default="",
        help="the format, if the suffix of OUT does not tell it; trivium --list-formats lists all",
    )
    arguments.add_key_argument(parser)
    arguments.add_option(parser, "plugins")
    arguments.add_option(parser, "shapes")
    arguments.add_option(parser, "activations", default=AS_GIVEN)
    text = "0: as imported (the default), 1: fold, 2: fold and recognise"
    arguments.add_option(parser, "opt_level", default=0, help=text)


def run(flags: argparse.Namespace) -> None:
    """Write the file; nothing is written when something has no equivalent."""
    from ...compiler.export import export

    source = flags.model
    if arguments.is_package(source):
        source = arguments.open_package(flags, source)
    else:
        arguments.refuse_key(flags, source)
    given = {"shapes": flags.shapes, "opt_level": flags.opt_level}
    given["activations"] = flags.activations
    export(source, flags.output, format=flags.format, **given)
