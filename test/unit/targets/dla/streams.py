"""Streams written by hand for vanilla, with their containers: what several tests run."""

from dataclasses import replace
from typing import Any

import numpy as np
from trivium.runtime.contents import FIRST_PORT, Buffer, Memory
from trivium.runtime.contents import Port as ManifestPort
from trivium.runtime.dla.part import DESCRIPTION, DlaPart, DlaProgram
from trivium.runtime.dla.step import DlaStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.targets.dla.core import container
from trivium.targets.dla.core.contents import Container, relocations
from trivium.targets.dla.core.packet import Packet
from trivium.targets.dla.core.ports import Port
from trivium.targets.dla.vanilla.packets import (
    FILE,
    Conv,
    End,
    Load,
    LoadWeights,
    Store,
    instruction_set,
)

VANILLA = instruction_set()
DESCRIPTION_BYTES = FILE.read_bytes()
ATOM = 16
SIZE = 6


def image(side: str, start: int, columns: int = SIZE) -> dict[str, int]:
    """Return the fields that place an image of 16 channels."""
    return {side: start, f"{side}_row": columns * ATOM, f"{side}_pixel": ATOM}


def kernel(size: int, pad: int) -> dict[str, int]:
    """Return the fields of a square kernel that moves by one."""
    axes = {f"{what}_{axis}": n for what, n in (("kernel", size), ("stride", 1), ("dilation", 1))
            for axis in ("rows", "columns")}  # fmt: skip
    return {**axes, "pad_top": pad, "pad_left": pad}


def two_convs(size: int = SIZE) -> list[Packet]:
    """Return a stream: y = conv3x3(conv3x3(x)) of 3 → 5 → 4 channels; the first one clamps at 0."""
    sizes = {"rows": size, "columns": size}
    bytes_each = size * size * ATOM
    first_weights, second_weights = 9 * 3 * ATOM, 9 * 5 * ATOM
    load = Load(
        region=1, fill=0, top=0, bottom=0, left=0, right=0, channels=ATOM, **sizes,
        **image("source", 0, size), **image("destination", 0, size),
    )  # fmt: skip
    weights = LoadWeights(
        region=0, source=0, destination=0, length=first_weights + second_weights + 2 * 9 * ATOM
    )
    tables = first_weights + second_weights
    shared: dict[str, Any] = {
        **sizes, "out_rows": size, "out_columns": size, **kernel(3, 1), "mode": "dense",
        "begin": 1, "finish": 1, "high": 127,
    }  # fmt: skip
    first = Conv(
        **shared, **image("source", 0, size), **image("destination", bytes_each, size),
        channels=3, filters=5, source_zero=-4, destination_zero=7, low=7, weights=0, table=tables,
        waits={"load": 2},
    )  # fmt: skip
    second = Conv(
        **shared, **image("source", bytes_each, size),
        **image("destination", 2 * bytes_each, size), channels=5, filters=4, source_zero=7,
        destination_zero=-9, low=-128, weights=first_weights, table=tables + 9 * ATOM,
    )  # fmt: skip
    store = Store(
        region=2, **sizes, channels=ATOM, **image("source", 2 * bytes_each, size),
        **image("destination", 0, size), waits={"mac": 2},
    )  # fmt: skip
    return [load, weights, first, second, store, End(waits={"store": 1, "mac": 2, "load": 2})]


class TwoConvs:
    """Hold random weights of `two_convs`, as constants of a container and for numpy."""

    def __init__(self, seed: int = 0, size: int = SIZE) -> None:
        values = np.random.RandomState(seed)
        self.size = size
        self.weights = [values.randint(-128, 128, (9, c, k)) for c, k in ((3, 5), (5, 4))]
        self.bias = [values.randint(-4000, 4000, k) for k in (5, 4)]
        self.multiplier = [values.randint(1 << 30, 1 << 31, k) for k in (5, 4)]
        self.shift = [values.randint(39, 41, k) for k in (5, 4)]

    @property
    def constants(self) -> bytes:
        """Return weights and tables, filters padded to an atom."""

        def padded(values: np.ndarray, dtype: type) -> bytes:
            room = [(0, 0)] * (values.ndim - 1) + [(0, ATOM - values.shape[-1])]
            return np.pad(values, room).astype(dtype).tobytes()

        data = b"".join(padded(w, np.int8) for w in self.weights)
        for bias, multiplier, shift in zip(self.bias, self.multiplier, self.shift, strict=True):
            data += padded(bias, np.int32) + padded(multiplier, np.int32) + padded(shift, np.int8)
        return data

    def container(self, stream: list[Packet] | None = None) -> Container:
        """Return the container of the stream, or of another one with the same ports."""
        code = VANILLA.encode_stream(stream or two_convs(self.size))
        room = self.size * self.size * ATOM
        regions = {"constants": len(self.constants), "inputs": room, "outputs": room}
        shape = (1, self.size, self.size)
        return Container(
            regions, self.constants, code, relocations(VANILLA, code),
            ("", "", "conv_1", "conv_2", "", ""),
            (Port("x", "inputs", 0, (*shape, 3), ATOM, -4),),
            (Port("y", "outputs", 0, (*shape, 4), ATOM, -9),),
        )  # fmt: skip

    def file(self) -> bytes:
        """Return the file of the container."""
        return container.save(VANILLA.description, self.container())

    def inputs(self, seed: int) -> np.ndarray:
        """Return a random input."""
        shape = (1, self.size, self.size, 3)
        return np.random.RandomState(seed).randint(-128, 128, shape).astype(np.int8)

    def expected(self, x: np.ndarray) -> np.ndarray:
        """Return the output for an input, in Python's and numpy's integers alone."""
        y = self._conv(x, 0, -4, 7, 7)
        return self._conv(y, 1, 7, -9, -128)

    def _conv(self, x: np.ndarray, layer: int, zero: int, out_zero: int, low: int) -> np.ndarray:
        padded = np.pad(x[0].astype(np.int64) - zero, ((1, 1), (1, 1), (0, 0)))
        weights = self.weights[layer].reshape(3, 3, *self.weights[layer].shape[1:])
        sums = np.zeros((self.size, self.size, weights.shape[-1]), np.int64)
        for row in range(self.size):
            for column in range(self.size):
                window = padded[row : row + 3, column : column + 3]
                sums[row, column] = np.einsum("ijc,ijck->k", window, weights)
        # What the packet sums is x and not x - zero: biases have the difference folded in.
        sums += zero * weights.sum((0, 1, 2)) + self.bias[layer]
        out = np.empty(sums.shape, np.int8)
        for place in np.ndindex(*sums.shape):
            product = int(sums[place]) * int(self.multiplier[layer][place[-1]])
            shift = int(self.shift[layer][place[-1]])
            size = (abs(product) + (1 << shift - 1)) >> shift
            out[place] = max(low, min(127, (size if product >= 0 else -size) + out_zero))
        return out[None]


STEP = DlaStep(entry="dla/a.tdla", accelerator="vanilla", nodes=("conv_1", "conv_2"))


def manifest(size: int = SIZE) -> Manifest:
    """Return the manifest of the model y = convs(x)."""
    x, y = (1, size, size, 3), (1, size, size, 4)
    return Manifest(
        producer="test",
        source="convs.onnx",
        target="vanilla",
        inputs=(ManifestPort("x", x, "int8", 0),),
        outputs=(ManifestPort("y", y, "int8", 1),),
        buffers=(
            Buffer("x", FIRST_PORT, 0, x, "int8"),
            Buffer("y", FIRST_PORT + 1, 0, y, "int8"),
        ),
        steps=(replace(STEP, operands=(0,), results=(1,)),),
        memory=Memory(0, 0, 0),
        parts=(DlaPart((DlaProgram("dla/a.tdla", 6, 0, 0, 1 << 20, 0, 0),)),),
    )


def package(convs: TwoConvs, data: bytes | None = None) -> Package:
    """Return the package of the model y = convs(x)."""
    container_file = convs.file() if data is None else data
    entries = {"dla/a.tdla": container_file, DESCRIPTION: DESCRIPTION_BYTES}
    return Package.create(manifest(convs.size), entries)
