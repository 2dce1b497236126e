"""ONNX's own backend suite: the cases that the installed package `onnx` has."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ....compiler.frontends.onnx.backend_cases import BackendCase, backend_cases
from ....compiler.onnx_backend import Compile, TriviumModel
from ....dialects.core.errors import CompileError
from ..suite import Case, Suite, comparison, refuse_samples


@dataclass(frozen=True)
class OnnxCase(Case):
    """A model with the data of its runs, compared as ONNX's runner does: types, shapes, values."""

    case: BackendCase

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.case.name

    @property
    def operator(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.case.operator

    def run(self, compile: Compile) -> None:
        model = TriviumModel(self.case.model, {}, compile)
        for inputs, expected in self.case.data_sets():
            results = model.run(inputs)
            with comparison():
                self.case.compare(results, expected)


class OnnxSuite(Suite):
    """The cases of all kinds: nodes, simple models, converted ones and those of networks."""

    @classmethod
    def open(cls, folder: Path | None, samples: int | None) -> "OnnxSuite":
        refuse_samples("onnx", samples)
        if folder is not None:
            raise CompileError("suite 'onnx' is in the package onnx: leave out its folder")
        return cls()

    def cases(self) -> Sequence[Case]:
        return [OnnxCase(case) for case in backend_cases()]

    @property
    def version(self) -> str:
        return f"onnx {version('onnx')}"
