"""Write a part of a model: what computes some of its values from others.

MODEL is an ONNX or PNNX file, a program of torch, or IR. Values have the names of the model; a
pattern such as conv* stands for all values of such names. Without --inputs, the part begins where
the model does, without --outputs it ends where the model does.
"""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=arguments.MODEL)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help=arguments.WRITTEN,
    )
    for name in ("inputs", "outputs", "plugins", "shapes"):
        arguments.add_option(parser, name)


def run(flags: argparse.Namespace) -> None:
    """Write the part; nothing is written when something has no equivalent in the format."""
    from ...compiler.export import export

    if not flags.inputs and not flags.outputs:
        flags.refuse("give --inputs, --outputs or both: there is nothing to cut")
    inputs, outputs = flags.inputs or (), flags.outputs or ()
    export(flags.model, flags.output, shapes=flags.shapes, inputs=inputs, outputs=outputs)
