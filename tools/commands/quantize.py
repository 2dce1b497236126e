"""Quantise a model by calibration data, and write it as ONNX with the scales it was given.

The data are an .npz with an array for each input, whose first
axis is that of samples; instead of data, --table gives scales that were written, and perhaps
edited, before.

--report says which values lose the outputs most; --cosine lets as few of them as possible stay
floats, and says which.
"""

import argparse
from typing import TYPE_CHECKING

from .. import arguments
from ..progress import shown_progress
from ..report_quantized import quantization_report

if TYPE_CHECKING:
    from ...compiler.quantize import Report

METHODS = ("minmax", "percentile", "kl", "mse")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=arguments.MODEL)
    parser.add_argument("--data", metavar="FILE.npz", help="samples for each input")
    parser.add_argument("-o", "--output", metavar="OUT.onnx", default="")
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="minmax",
        help="how ranges come from data: all that was seen (the default), or less",
    )
    parser.add_argument(
        "--percentile",
        metavar="P",
        type=float,
        default=99.99,
        help="the percentage of sizes that --method percentile keeps, 99.99 by default",
    )
    parser.add_argument("--symmetric", action="store_true", help="let zero stand in the middle")
    parser.add_argument(
        "--per-tensor", action="store_true", help="one scale for all weights of an op"
    )
    parser.add_argument("--type", choices=("i8", "ui8"), default="i8", help="what values become")
    parser.add_argument("--table", metavar="FILE.json", default="", help="scales to use")
    parser.add_argument("--write-table", metavar="FILE.json", default="", help="write the scales")
    parser.add_argument(
        "--report",
        action="store_true",
        help="print how much of the outputs is lost where one value alone is rounded, worst first",
    )
    parser.add_argument(
        "--cosine",
        metavar="C",
        type=float,
        help="leave the worst values floats, until outputs are as close, for example 0.99",
    )
    arguments.add_option(parser, "plugins")
    arguments.add_option(parser, "shapes")


def run(flags: argparse.Namespace) -> None:
    """Quantise and write; nothing is written when something does not fit."""
    from ...compiler.quantize import quantize

    if not (flags.output or flags.write_table or flags.report):
        flags.refuse("nothing is asked for: give --output, --write-table or --report")
    found: list[Report] = []
    with shown_progress() as progress:
        quantize(
            flags.model,
            flags.data,
            flags.output,
            method=flags.method,
            percentile=flags.percentile,
            symmetric=flags.symmetric,
            per_tensor=flags.per_tensor,
            storage=flags.type,
            table=flags.table,
            write_table=flags.write_table,
            cosine=flags.cosine,
            report=found.append if flags.report or flags.cosine is not None else None,
            shapes=flags.shapes,
            progress=progress,
        )
    for report in found:
        print(quantization_report(report, flags.report))
