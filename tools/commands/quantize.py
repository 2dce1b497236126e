"""Quantise a model by calibration data, and write it as ONNX with the scales it was given.

The data are an .npz with an array for each input, whose first axis is that of samples, or a folder
of images or .npy files; instead of data, --table gives scales that were written, and perhaps
edited, before, and --config those of a file of PPL, with data types of nodes.

--report says which values lose the outputs most; --cosine lets as few of them as possible stay
floats, and says which.

--weights int4 or int8 quantises the matrices of products alone, in blocks, and with int8 kernels of
convolutions; it needs no data, and all other numbers stay floats.
"""

import argparse
from typing import TYPE_CHECKING

from .. import arguments
from ..progress import shown_progress
from ..reports.report_quantized import quantization_report, weight_report

if TYPE_CHECKING:
    from ...compiler.quantize import Preprocessing, Report, Spread, WeightReport

METHODS = ("minmax", "percentile", "kl", "mse")
WEIGHT_METHODS = ("rtn", "gptq")
OF_VALUES = (
    "config",
    "cosine",
    "per_tensor",
    "percentile",
    "ray",
    "table",
    "type",
    "write_config",
    "write_table",
)
"""Flags that are for values, and have no meaning with --weights."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help=arguments.MODEL)
    parser.add_argument(
        "--data",
        metavar="FILE.npz|FOLDER",
        help="samples for each input, or a folder of images or .npy files, one for each sample",
    )
    parser.add_argument("-o", "--output", metavar="OUT.onnx", default="")
    parser.add_argument(
        "--method",
        choices=(*METHODS, *WEIGHT_METHODS),
        help="how ranges come from data: all that was seen (minmax, the default), or less; with "
        "--weights, each is rounded by itself (rtn, the default), or by data (gptq)",
    )
    parser.add_argument(
        "--percentile",
        metavar="P",
        type=float,
        help="the percentage of sizes that --method percentile keeps, 99.99 by default",
    )
    parser.add_argument("--symmetric", action="store_true", help="let zero stand in the middle")
    parser.add_argument(
        "--per-tensor", action="store_true", help="one scale for all weights of an op"
    )
    parser.add_argument(
        "--type",
        choices=("i8", "ui8", "i16", "ui16"),
        help="what values become: i8 by default; weights are i8 anyway",
    )
    parser.add_argument("--weights", choices=("int4", "int8"), help="quantise weights alone")
    parser.add_argument(
        "--block", type=int, help="elements in depth that share a scale of --weights, 32 by default"
    )
    parser.add_argument("--table", metavar="FILE.json", default="", help="scales to use")
    parser.add_argument("--write-table", metavar="FILE.json", default="", help="write the scales")
    parser.add_argument(
        "--config", metavar="FILE.json", default="", help="scales and data types to use, as of PPL"
    )
    parser.add_argument(
        "--write-config", metavar="FILE.json", default="", help="write scales and data types so"
    )
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
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="run data on this cluster of Ray: HOST:PORT, auto, or local to start one",
    )
    images = parser.add_argument_group("how images of a folder become samples")
    for name, meaning in PREPROCESSING.items():
        metavar, read = ("N,…", _numbers) if name in ("mean", "std") else ("X", float)
        images.add_argument(f"--{name}", metavar=metavar, type=read, help=meaning)
    images.add_argument("--layout", choices=("nchw", "nhwc"), help="of the input, nchw by default")
    images.add_argument("--resize", metavar="HxW", type=_size, help="the size to resize images to")
    arguments.add_option(parser, "plugins")
    arguments.add_option(parser, "shapes")


PREPROCESSING = {
    "scale": "what pixels of 0 to 255 are multiplied with, 1/255 by default",
    "mean": "what is then subtracted, for each channel or for all",
    "std": "what is then divided by, for each channel or for all",
}


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' must be like 0.485,0.456,0.406") from None


def _size(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    if not (height.isdecimal() and width.isdecimal()):
        raise argparse.ArgumentTypeError(f"'{text}' must be like 224x224")
    return int(height), int(width)


def _preprocessing(flags: argparse.Namespace) -> "Preprocessing | None":
    """Return what flags say of images, None where none was given."""
    from ...compiler.quantize import Preprocessing

    names = (*PREPROCESSING, "layout", "resize")
    given = {name: getattr(flags, name) for name in names if getattr(flags, name) is not None}
    return Preprocessing(**given) if given else None


def run(flags: argparse.Namespace) -> None:
    """Quantise and write; nothing is written when something does not fit."""
    if not (flags.output or flags.write_table or flags.write_config or flags.report):
        flags.refuse(
            "nothing is asked for: give --output, --write-table, --write-config or --report"
        )
    _check_methods(flags)
    if flags.weights:
        _quantize_weights(flags)
        return
    from ...compiler.quantize import quantize

    found: list[Report] = []
    with shown_progress() as progress:
        quantize(
            flags.model,
            flags.data,
            flags.output,
            method=flags.method or "minmax",
            percentile=99.99 if flags.percentile is None else flags.percentile,
            symmetric=flags.symmetric,
            per_tensor=flags.per_tensor,
            storage=flags.type or "i8",
            table=flags.table,
            write_table=flags.write_table,
            config=flags.config,
            write_config=flags.write_config,
            cosine=flags.cosine,
            report=found.append if flags.report or flags.cosine is not None else None,
            shapes=flags.shapes,
            preprocessing=_preprocessing(flags),
            spread=_spread(flags),
            progress=progress,
        )
    for report in found:
        print(quantization_report(report, flags.report))


def _spread(flags: argparse.Namespace) -> "Spread":
    """Return what calls functions where flags say: in this process, or on a cluster."""
    if flags.ray is None:
        return map
    if flags.data is None:
        flags.refuse("--ray runs calibration data, and there is none: give --data")
    from ..cluster import spread
    from ..cluster.connection import connected

    connected("calibrating on a cluster", flags.ray)
    return spread


def _check_methods(flags: argparse.Namespace) -> None:
    """Refuse flags of values for weights, and the other way round."""
    if flags.weights:
        unset: tuple[object, ...] = (None, False, "")
        given = [name for name in OF_VALUES if not any(getattr(flags, name) is x for x in unset)]
        if given:
            spelled = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            flags.refuse(f"--weights leaves values in floating point: drop {spelled}")
    elif flags.block:
        flags.refuse("--block is for --weights int4 or int8")
    known, where = (WEIGHT_METHODS, "with") if flags.weights else (METHODS, "without")
    if flags.method and flags.method not in known:
        must = f"must be one of {', '.join(known)} {where} --weights"
        flags.refuse(f"--method is {flags.method}, {must}")


def _quantize_weights(flags: argparse.Namespace) -> None:
    from ...compiler.quantize import quantize_weights

    found: list[WeightReport] = []
    with shown_progress() as progress:
        quantize_weights(
            flags.model,
            flags.data,
            flags.output,
            weights=flags.weights,
            block=flags.block or 32,
            method=flags.method or "rtn",
            symmetric=flags.symmetric,
            report=found.append if flags.report else None,
            shapes=flags.shapes,
            preprocessing=_preprocessing(flags),
            progress=progress,
        )
    for report in found:
        print(weight_report(report))
