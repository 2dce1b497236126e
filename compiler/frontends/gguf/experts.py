"""The feed-forward part of a layer that has experts. Source: `build_moe_ffn` of llama.cpp."""

from collections.abc import Callable
from dataclasses import dataclass

from ....dialects import tri
from ..core.values import Value, tensor
from ..decoding.experts import mixed
from .architectures import Architecture
from .hyperparameters import Experts
from .tensors import ROUTER, SHARED_GATE
from .weights import Weights


@dataclass(frozen=True)
class ExpertLayer:
    """Build what the experts of the layer with the names of a prefix compute of rows."""

    weights: Weights
    prefix: str
    experts: Experts
    flags: Architecture

    def mixed(self, x: Value) -> Value:
        """Mix the experts that the router chooses: [batch, length, hidden]."""
        batch, length, hidden = tensor(x).shape
        rows = tri.Reshape.build(x, shape=(batch * length, hidden)).y
        logits = self.weights.product(rows, f"{self.prefix}.{ROUTER}")
        y = mixed(
            rows, logits, self.experts.used, self._feed, normalized=self.flags.normalizes_experts
        )
        return tri.Reshape.build(y, shape=(batch, length, hidden)).y

    def _feed(self, rows: Value, index: Value) -> Value:
        return self._gated(
            lambda x, part: self.weights.expert_product(x, f"{self.prefix}.ffn_{part}_exps", index),
            rows,
        )

    def shared(self, x: Value) -> Value:
        """Feed all rows through the shared expert; the sigmoid of a product is its weight."""
        made = self._gated(
            lambda x, part: self.weights.product(x, f"{self.prefix}.ffn_{part}_shexp"), x
        )
        direction = self.weights.vector(f"{self.prefix}.{SHARED_GATE}.weight")
        column = tri.Reshape.build(direction, shape=(tensor(direction).size, 1)).y
        return tri.Mul.build(made, tri.Sigmoid.build(tri.MatMul.build(x, column).y).y).y

    @staticmethod
    def _gated(product: Callable[[Value, str], Value], x: Value) -> Value:
        gate, up = product(x, "gate"), product(x, "up")
        return product(tri.Mul.build(tri.Silu.build(gate).y, up).y, "down")
