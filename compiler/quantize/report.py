"""The report of a quantisation: the error of the outputs, in all and by value."""

from collections.abc import Mapping
from dataclasses import dataclass

from .closeness import Closeness


@dataclass(frozen=True)
class Sensitivity:
    """The error caused by one value: a result of `op` of `node`, or an input of the model.

    `outputs` is the closeness of the worst output when this value alone is rounded, with the
    weights of its consumers. `per_layer_error` is the closeness of the value itself when the
    operands of its op are exact, then rounded, as are its weights and its result.
    """

    value: str
    node: str
    op: str
    outputs: Closeness
    per_layer_error: Closeness


@dataclass(frozen=True)
class Report:
    """The errors measured by running a model on `batches` of its data.

    `values` are the calibrated values, worst first. The values `floats` stay in floating point, so
    that `float_nodes` of all `nodes` that could compute on integers do not, or only in part.
    `outputs` has the closeness of each output of the quantised model.
    """

    values: tuple[Sensitivity, ...]
    floats: tuple[str, ...]
    float_nodes: tuple[str, ...]
    nodes: int
    outputs: Mapping[str, Closeness]
    batches: int


def least_close(outputs: Mapping[str, Closeness]) -> Closeness:
    """Return the closeness of the worst output."""
    return min(outputs.values(), key=lambda each: (each.cosine, each.sqnr))
