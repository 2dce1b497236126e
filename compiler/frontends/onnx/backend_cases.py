"""The cases of ONNX's own backend suite, which the package `onnx` has: models and what they give.

Node cases are made in memory, the models of the other kinds are files of the package.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from ....dialects.core.tensor import Array
from .inputs import model_inputs

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")

DRAWN = re.compile(r"test_bernoulli|test_training_dropout_(default|mask)|test_training_dropout$")
"""Cases that expect what numpy's generator drew: types and shapes are compared alone."""

EXPANDED = re.compile(r"_expanded(_ver\d+)?$")
"""What ends the names of cases that have the function body of an operator in its place."""

DataSet = tuple[list[Any], list[Any]]


@dataclass(frozen=True)
class BackendCase:
    """One model with inputs and the outputs that it must give; `operator` is what it is about.

    A case that is about no single operator has its kind in the place of that.
    """

    name: str
    kind: str
    operator: str
    test: TestCase

    @cached_property
    def model(self) -> onnx.ModelProto:
        if self.test.model is not None:
            return self.test.model
        return onnx.ModelProto.FromString(_model_file(self.test).read_bytes())

    def data_sets(self) -> list[DataSet]:
        """Return the inputs and outputs of each run."""
        if self.test.data_sets is not None:
            sets = cast("list[DataSet]", self.test.data_sets)
            return [([*map(_plain, ins)], [*map(_plain, outs)]) for ins, outs in sets]
        if self.test.model_dir:
            folders = sorted(Path(self.test.model_dir).glob("test_data_set_*"))
            return [_read_folder(self.model.graph, folder) for folder in folders]
        return [_light_data(self.model.graph, _model_file(self.test))]

    def compare(self, results: Sequence[Any], expected: Sequence[Any]) -> None:
        """Raise AssertionError unless results have the types, shapes and values of the outputs."""
        _same([isinstance(y, list) for y in results], [isinstance(y, list) for y in expected])
        wanted, made = _flat(expected), _flat(results)
        if DRAWN.match(self.name):
            return _same(*([(y.dtype, y.shape) for y in each] for each in (made, wanted)))
        return Runner.assert_similar_outputs(wanted, made, rtol=self.test.rtol, atol=self.test.atol)


@cache
def backend_cases(kinds: tuple[str, ...] = KINDS) -> tuple[BackendCase, ...]:
    """Return the cases of some kinds, in the order of ONNX; making those of nodes takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [case for kind in kinds for case in load_model_tests(kind=kind)]
    known = {case.name: _single_operator(case) for case in found if case.model is not None}
    return tuple(
        BackendCase(each.name, each.kind, known.get(_base(each.name)) or each.kind, each)
        for each in found
    )


def _base(name: str) -> str:
    return EXPANDED.sub("", name)


def _single_operator(case: TestCase) -> str:
    """Return the one operator of a model beside constants, or the one that its name contains."""
    nodes = cast("onnx.ModelProto", case.model).graph.node
    names = {_spelled(node): node.op_type.lower() for node in nodes}
    others = [name for name in names if name != "Constant"] or list(names)
    if len(others) == 1:
        return others[0]
    named = [name for name in others if names[name] in case.name.replace("_", "")]
    return max(named, key=len, default="")


def _spelled(node: onnx.NodeProto) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain else node.op_type


def _model_file(case: TestCase) -> Path:
    if case.model_dir:
        return Path(case.model_dir, "model.onnx")
    return Path(onnx.__file__).parent.parent / (case.url or "")


def _read_folder(graph: onnx.GraphProto, folder: Path) -> DataSet:
    ends = (("input", graph.input), ("output", graph.output))
    inputs, outputs = ([*_read_values(folder, kind, values)] for kind, values in ends)
    return inputs, outputs


def _read_values(folder: Path, kind: str, values: Sequence[onnx.ValueInfoProto]) -> Iterator[Any]:
    for index, value in enumerate(values):
        path = folder / f"{kind}_{index}.pb"
        if path.exists():
            yield _read_value(path, value.type)


def _light_data(graph: onnx.GraphProto, path: Path) -> DataSet:
    """Return the input that ONNX makes for its light models, and the outputs beside the model."""
    inputs = [Runner.generate_dummy_data(value) for value in model_inputs(graph)]
    outputs = [
        _read_value(path.with_name(f"{path.stem}_output_{index}.pb"), value.type)
        for index, value in enumerate(graph.output)
    ]
    return inputs, outputs


def _read_value(path: Path, kind: onnx.TypeProto) -> Any:
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def _plain(value: Any) -> Any:
    """Return a tensor as an array; sequences and what is missing stay."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, (np.generic, int, float, bool)) else value


def _flat(values: Sequence[Any]) -> list[Array]:
    """List the tensors of values that may be sequences, which the runner takes apart too far."""
    return [each for y in values for each in (cast("list[Any]", y) if isinstance(y, list) else [y])]


def _same(made: Any, wanted: Any) -> None:
    if made != wanted:
        raise AssertionError(f"got {made}, must be {wanted}")
