"""Models that `pnnx` wrote, in a folder: for each a `model.pnnx.param`, its .bin and `data.npz`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ....compiler.onnx_backend import Compile
from ....compiler.specialize import Specialized
from ....dialects.core.errors import CompileError
from ....dialects.core.tensor import Array, Shape
from ....runtime.session import Session
from ..suite import Case, Suite, comparison, refuse_samples

MODEL, DATA = "model.pnnx.param", "data.npz"

RELATIVE, ABSOLUTE = 1e-3, 1e-4
"""How far floats may be from those of the data; other types must be equal."""


@dataclass(frozen=True)
class PnnxCase(Case):
    """The folder of one case. `data.npz` has `in0`, `in1`, … and `out0`, `out1`, …"""

    folder: Path

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.folder.name

    @property
    def operator(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.folder.name

    def run(self, compile: Compile) -> None:
        def make(shapes: Mapping[str, Shape], constants: Mapping[str, Array]) -> Session:
            return compile(self.folder / MODEL, constants=constants)

        inputs, wanted = self.data()
        session, free = Specialized(make).get(inputs)
        results = session.run(free).values()
        with comparison():
            self.compare([in_parts(each) for each in results], wanted)

    def data(self) -> tuple[dict[str, Array], list[Array]]:
        """Return the inputs by name, and the outputs in order."""
        data = np.load(self.folder / DATA)
        inputs = {name: data[name] for name in data.files if name.startswith("in")}
        return inputs, [in_parts(data[f"out{i}"]) for i in range(len(data.files) - len(inputs))]

    def compare(self, results: Sequence[Array], wanted: Sequence[Array]) -> None:
        """Raise AssertionError unless results have the types, shapes and values of the outputs."""
        made, must = ([(str(y.dtype), y.shape) for y in each] for each in (results, wanted))
        if made != must:
            raise AssertionError(f"got {made}, must be {must}")
        for result, want in zip(results, wanted, strict=True):
            if want.dtype.kind == "f":
                np.testing.assert_allclose(result, want, rtol=RELATIVE, atol=ABSOLUTE)
            else:
                np.testing.assert_array_equal(result, want)


class PnnxSuite(Suite):
    """The cases of a folder, each in a folder of its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def open(cls, folder: Path | None, samples: int | None) -> "PnnxSuite":
        refuse_samples("pnnx", samples)
        if folder is None:
            raise CompileError("suite 'pnnx' is a folder of cases: name it with --folder")
        if not any(folder.glob(f"*/{MODEL}")):
            raise CompileError(f"'{folder}' has no case: none of its folders has a {MODEL}")
        return cls(folder)

    def cases(self) -> Sequence[Case]:
        return [PnnxCase(path.parent) for path in sorted(self.folder.glob(f"*/{MODEL}"))]

    @property
    def version(self) -> str:
        return f"{len(self.cases())} cases"


def in_parts(array: Array) -> Array:
    """Return complex numbers as pairs of real ones, as the IR has them."""
    if array.dtype.kind != "c":
        return array
    return np.stack([np.real(array), np.imag(array)], -1)
