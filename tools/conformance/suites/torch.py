"""Torch's OpInfo: samples of each function of torch, by element types, as exported programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ....compiler.onnx_backend import Compile
from ....compiler.specialize import Specialized
from ....dialects.core.errors import CompileError
from ....dialects.core.extras import require
from ....dialects.core.tensor import Array, Shape
from ....runtime.session import Session
from ..op_samples import RANDOM, UNDEFINED, Sample, element_types, operators, samples
from ..suite import Case, Suite, comparison

SAMPLES = 3
"""How many samples a case has if nothing else is said."""

TOLERANCES = {"float64": 1e-5, "float32": 1e-4, "float16": 1e-2, "bfloat16": 4e-2}
"""How far floats may be from those of torch, relative to one and to the greatest."""


@dataclass(frozen=True)
class TorchCase(Case):
    """Samples of one function for one element type."""

    operator: str
    element_type: str
    samples: int

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"{self.operator}-{self.element_type}"

    def run(self, compile: Compile) -> None:
        """Run all samples, also those after one that is refused."""
        refused: CompileError | None = None
        for export in samples(self.operator, self.element_type, self.samples):
            try:
                self._run_sample(export(), compile)
            except CompileError as error:
                refused = refused or error
        if refused is not None:
            raise refused

    def _run_sample(self, sample: Sample, compile: Compile) -> None:
        def make(shapes: Mapping[str, Shape], constants: Mapping[str, Array]) -> Session:
            return compile(sample.program, constants=constants)

        session, free = Specialized(make).get(sample.inputs)
        results = [*session.run(free).values()]
        with comparison():
            try:
                self._compare(results, sample.results)
            except AssertionError:
                wide = sample.wide_results()
                if wide is None:
                    raise
                self._compare(results, wide)

    def _compare(self, results: Sequence[Array], wanted: Sequence[Array]) -> None:
        """Raise AssertionError unless results have the types, shapes and values of torch's."""
        made, must = ([(str(y.dtype), y.shape) for y in each] for each in (results, wanted))
        if made != must:
            raise AssertionError(f"got {made}, must be {must}")
        if self.operator in UNDEFINED | RANDOM:
            return
        for result, want in zip(results, wanted, strict=True):
            compare(result, want)


def compare(result: Array, want: Array) -> None:
    """Raise AssertionError unless floats are near, and others equal."""
    if result.dtype.kind == "c":
        result, want = (np.stack([np.real(y), np.imag(y)]) for y in (result, want))
    tolerance = TOLERANCES.get(str(want.dtype))
    if tolerance is None:
        return np.testing.assert_array_equal(result, want)
    result, want = result.astype(np.float64), want.astype(np.float64)
    greatest = np.max(np.abs(want), where=np.isfinite(want), initial=1)
    np.testing.assert_allclose(result, want, rtol=tolerance, atol=tolerance * greatest)


class TorchSuite(Suite):
    """The functions of the database, each for the element types that torch defines it for."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    @classmethod
    def open(cls, folder: Path | None, samples: int | None) -> "TorchSuite":
        if folder is not None:
            raise CompileError("suite 'torch' is in the package torch: leave out its folder")
        require("torch", "suite 'torch'")
        require("expecttest", "suite 'torch'")
        return cls(SAMPLES if samples is None else samples)

    def cases(self) -> Sequence[Case]:
        pairs = [(name, each) for name in operators() for each in element_types(name)]
        return [TorchCase(*pair, self.samples) for pair in pairs]

    @property
    def version(self) -> str:
        return f"torch {version('torch')}, {self.samples} samples"
