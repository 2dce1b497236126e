"""What quantisation does to the outputs of a model, as a whole and value by value."""

from collections.abc import Mapping
from dataclasses import dataclass

from .closeness import Closeness


@dataclass(frozen=True)
class Sensitivity:
    """Say what is lost by one value; `op` makes it, from `node` of the source, or it is an input.

    `outputs` says how close these are when the value alone is rounded, and weights that it meets;
    of several it is the one that is least close. `local` says how close the value itself is when
    what its op reads is exact, then rounded, as are weights and the result.
    """

    value: str
    node: str
    op: str
    outputs: Closeness
    local: Closeness


@dataclass(frozen=True)
class Report:
    """Hold what was found out by running a model on `batches` of its data.

    `values` are those that were calibrated, worst first. Of these, `floats` stay floats, so that
    `float_nodes` of all `nodes` that could compute on integers do not, or not wholly. `outputs` are
    those of the quantised model, and how close they are to those of the model in floats.
    """

    values: tuple[Sensitivity, ...]
    floats: tuple[str, ...]
    float_nodes: tuple[str, ...]
    nodes: int
    outputs: Mapping[str, Closeness]
    batches: int


def least_close(outputs: Mapping[str, Closeness]) -> Closeness:
    """Return how close the worst of several outputs is."""
    return min(outputs.values(), key=lambda each: (each.cosine, each.sqnr))
