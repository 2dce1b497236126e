"""Calibration data from a folder of images, or of .npy files: one array for each input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...dialects.core.errors import CompileError
from ...dialects.core.extras import missing
from ...dialects.core.sizes.atoms import is_symbolic
from ...dialects.core.tensor import Array, Tensor, numpy_dtype

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
LAYOUTS = ("nchw", "nhwc")
MODES = {1: "L", 3: "RGB", 4: "RGBA"}
"""What Pillow calls pixels of so many channels."""


@dataclass(frozen=True)
class Preprocessing:
    """How an image becomes a sample: `(pixel * scale - mean) / std`, channel by channel.

    Pixels are 0 to 255, in RGB order; images of one channel are grey. `mean` and `std` have a
    number for each channel, or one for all. `layout` is that of the input, "nchw" or "nhwc".
    `resize` is (height, width), bilinear; without it images must have the size of the input.
    Raises CompileError for a wrong value.
    """

    mean: Sequence[float] = (0.0,)
    std: Sequence[float] = (1.0,)
    scale: float = 1 / 255
    layout: str = "nchw"
    resize: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name in ("mean", "std"):
            numbers = tuple(getattr(self, name))
            if not numbers or not np.isfinite(numbers).all() or (name == "std" and 0 in numbers):
                must = "finite numbers" + " other than 0" * (name == "std")
                raise CompileError(f"{name} of preprocessing is {numbers}, must be {must}")
        if not np.isfinite(self.scale):
            raise CompileError(f"scale of preprocessing is {self.scale}, must be finite")
        if self.layout not in LAYOUTS:
            must = " or ".join(LAYOUTS)
            raise CompileError(f"layout of preprocessing is '{self.layout}', must be {must}")
        if self.resize is not None and min(self.resize) < 1:
            raise CompileError(f"resize of preprocessing is {self.resize}, must be from 1 on")


def read_folder(
    folder: Path, inputs: Mapping[str, Tensor], preprocessing: Preprocessing | None
) -> dict[str, Array]:
    """Return the samples in a folder, in the order of the names of files.

    A model of one input has its files in `folder`, one of several a folder inside of it for each,
    by name. Each file is one sample, an image or a .npy file of numbers that are used as they are.
    Raises CompileError for an empty folder, for files that cannot be read, and for other sizes.
    """
    if len(inputs) == 1:
        ((name, tensor),) = inputs.items()
        return {name: _samples(folder, name, tensor, preprocessing)}
    return {n: _samples(folder / n, n, tensor, preprocessing) for n, tensor in inputs.items()}


def _samples(folder: Path, name: str, tensor: Tensor, preprocessing: Preprocessing | None) -> Array:
    where = f"calibration data of '{name}'"
    if not folder.is_dir():
        raise CompileError(f"{where}: there is no folder '{folder}'")
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if not files:
        raise CompileError(f"{where}: folder '{folder}' is empty, must have 1 sample or more")
    images = files[0].suffix.lower() in IMAGES
    for path in files:
        if path.suffix.lower() not in (IMAGES if images else (".npy",)):
            must = "an image, as the first file" if images else "a .npy file, or all images"
            raise CompileError(f"{where}: '{path}' must be {must}")
    if not images and preprocessing is not None:
        raise CompileError(f"{where}: preprocessing is for images, .npy files are used as they are")
    made = preprocessing or Preprocessing()
    samples = [_image(p, tensor, made, where) if images else _array(p, where) for p in files]
    for path, sample in zip(files, samples, strict=True):
        _check(sample, tensor, f"{where}: '{path}'", images)
    return np.stack(samples)


def _array(path: Path, where: str) -> Array:
    try:
        found: Any = np.load(path, allow_pickle=False)
    except OSError as error:
        raise CompileError(f"{where}: cannot read '{path}': {error.strerror}") from None
    except (ValueError, EOFError):
        raise CompileError(f"{where}: '{path}' is not a .npy file of numbers") from None
    if not isinstance(found, np.ndarray):
        raise CompileError(f"{where}: '{path}' has several arrays, must be a .npy file of one")
    return cast("Array", found)


def _image(path: Path, tensor: Tensor, made: Preprocessing, where: str) -> Array:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise missing("PIL", "calibration by images") from None
    channel = 1 if made.layout == "nchw" else 3
    count = tensor.shape[channel] if tensor.rank == 4 else 0
    if count not in MODES or tensor.dtype not in ("f32", "f16", "ui8"):
        have = "x".join(map(str, tensor.shape)) or "scalar"
        must = f"{made.layout} with 1, 3 or 4 channels, of f32, f16 or ui8"
        raise CompileError(f"{where}: input is {have} of {tensor.dtype}, images must be {must}")
    try:
        with Image.open(path) as image:
            pixels = image.convert(MODES[int(count)])
            if made.resize is not None:
                size = made.resize[1], made.resize[0]
                pixels = pixels.resize(size, Image.Resampling.BILINEAR)
            array = np.asarray(pixels)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise CompileError(f"{where}: '{path}' is no image that Pillow reads") from None
    array = array.reshape(*array.shape[:2], int(count))
    sample = array if tensor.dtype == "ui8" else _scaled(array, made, where)
    sample = sample.transpose(2, 0, 1) if made.layout == "nchw" else sample
    return np.ascontiguousarray(sample, numpy_dtype(tensor.dtype))


def _scaled(pixels: Array, made: Preprocessing, where: str) -> Array:
    channels = pixels.shape[2]
    for name in ("mean", "std"):
        if (count := len(getattr(made, name))) not in (1, channels):
            raise CompileError(f"{where}: {name} has {count} numbers, must have 1 or {channels}")
    mean, std = (np.array(numbers, np.float64) for numbers in (made.mean, made.std))
    return (pixels * made.scale - mean) / std


def _check(sample: Array, tensor: Tensor, where: str, image: bool) -> None:
    """Refuse a sample of another shape or type than the input's without its first axis."""
    must, dtype = tensor.shape[1:], numpy_dtype(tensor.dtype)
    pairs = zip(sample.shape, must, strict=False)
    if len(sample.shape) != len(must) or any(
        not is_symbolic(size) and have != size for have, size in pairs
    ):
        have, wanted = ("x".join(map(str, each)) or "scalar" for each in (sample.shape, must))
        hint = ": give resize, or another layout" if image else ""
        raise CompileError(f"{where} has shape {have}, must be {wanted}{hint}")
    if sample.dtype != dtype:
        raise CompileError(f"{where} is {sample.dtype}, must be {dtype}")
