"""Images from the bytes of a file."""

import io
from collections.abc import Sequence

import numpy as np

from ...core.data_dependent import DataDependentOp
from ...core.errors import Invalid, need_one_of
from ...core.extras import missing
from ...core.fields import Operand, Result
from ...core.tensor import Array, Tensor
from ..dialect import TriOp

CHANNELS = {"RGB": 3, "BGR": 3, "Grayscale": 1}
"""The number of channels of each order of pixels."""


class DecodeImage(DataDependentOp, TriOp):
    """Decode the bytes of an image file: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP.

    `y` is ui8 [height, width, channels], in the order `pixels`: RGB, BGR or Grayscale. Pillow
    decodes: the op raises CompileError without it, and Invalid for bytes that it does not read.
    Source: ONNX `ImageDecoder`.
    """

    x: Operand
    height: int
    width: int
    pixels: str = "RGB"
    y: Result

    found_sizes = ("height", "width")

    def infer(self, x: Tensor) -> Tensor:
        need_one_of("pixels", self.pixels, CHANNELS)
        if x.rank != 1 or x.dtype != "ui8":
            raise Invalid(f"input is {x}, must be a list of bytes: of rank 1, of type ui8")
        return Tensor((self.height, self.width, CHANNELS[self.pixels]), "ui8")

    def reference(self, x: Array) -> Array:
        try:
            from PIL import Image
        except ModuleNotFoundError:
            raise missing("PIL", "decoding images") from None
        try:
            with Image.open(io.BytesIO(x.tobytes())) as image:
                pixels = np.asarray(image.convert("L" if self.pixels == "Grayscale" else "RGB"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            raise Invalid(f"has {x.size} bytes that are no image that Pillow reads") from None
        pixels = pixels.reshape(*pixels.shape[:2], CHANNELS[self.pixels])
        return np.ascontiguousarray(pixels[..., ::-1] if self.pixels == "BGR" else pixels)

    def most(self, x: Tensor) -> tuple[None, None]:
        return (None, None)

    def find(self, operands: Sequence[Array], results: Sequence[Array]) -> tuple[int, int]:
        return results[0].shape[0], results[0].shape[1]
