"""Write the tensor of an ONNX file (.pb) as raw bytes: what the client of code in C reads.

The bytes are the elements in row-major order, little-endian, without a header.
"""

import argparse
from pathlib import Path

import numpy as np

from .. import feeds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tensor", metavar="FILE", help="a tensor: .pb, or an array: .npy")
    parser.add_argument("-o", "--output", metavar="OUT.raw", required=True)


def run(flags: argparse.Namespace) -> None:
    """Write the file, and describe it."""
    from ...dialects.core.files import replaced_file

    array = feeds.read({"": flags.tensor})[""]
    ordered = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    with replaced_file(Path(flags.output)) as file:
        file.write(ordered.tobytes())
    shape = ", ".join(map(str, array.shape))
    print(f"{flags.output}: {array.dtype}[{shape}], {array.nbytes} bytes")
