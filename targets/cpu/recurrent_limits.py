"""Which recurrent layers have kernels, with packed weights or without."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...dialects import tri
from ...dialects.core.op import Op
from ..core import limit_text

ACTIVATIONS = ("Relu", "Sigmoid", "Tanh")


def common_activations(op: tri.Recurrent) -> bool:
    """Runs recurrent layers only with the activations Relu, Sigmoid and Tanh"""
    return set(op.activations) <= set(ACTIVATIONS)


def plain_walk(op: tri.Recurrent) -> bool:
    """Runs recurrent layers only without clip and sequence_lens, with layout 0"""
    return not op.clip and op.sequence_lens is None and op.layout == 0


def plain_lstm(op: tri.Lstm) -> bool:
    """Runs LSTM only without peepholes, projection and input_forget"""
    return op.p is None and op.projection is None and not op.input_forget


LIMITS: Mapping[type[Op], Sequence[Callable[[Any], bool]]] = {
    tri.Rnn: (common_activations, plain_walk),
    tri.Gru: (common_activations, plain_walk),
    tri.Lstm: (common_activations, plain_walk, plain_lstm),
}


def refusal(op: tri.Recurrent) -> str | None:
    """Say why no kernel computes a layer, or None when one does."""
    broken = (limit for limit in LIMITS[type(op)] if not limit(op))
    return next(map(limit_text, broken), None)
