"""Rules for operators that change nothing, or only the element type."""

from typing import Any

from .....dialects.core.errors import Unsupported
from ...core.values import cast, tensor
from ..element_types import torch_type
from ..registry import Value, torch_op


@torch_op("Tensor.clone", "Tensor.contiguous", "Tensor.detach", "torch.clone", "torch.positive")
@torch_op("nn.Identity", "Tensor.resolve_conj", "Tensor.resolve_neg")
@torch_op("aten::alias", "aten::lift_fresh", "aten::lift_fresh_copy")
def identity(input: Any) -> Any:
    return input


@torch_op("nn.AlphaDropout", "nn.Dropout", "nn.Dropout1d", "nn.Dropout2d", "nn.Dropout3d")
@torch_op("nn.FeatureAlphaDropout")
def dropout_module(input: Any, *, p: float = 0.5) -> Any:
    return input


@torch_op("F.dropout1d", "F.dropout2d", "F.dropout3d", "F.dropoutnd")
@torch_op(
    *("F.alpha_dropout", "F.dropout", "F.feature_alpha_dropout", "aten::feature_dropout"),
    renamed={"train": "training"},
)
def dropout(input: Any, *, p: float = 0.5, training: bool = False) -> Any:
    if training:
        raise Unsupported("drops elements at random (training=True), must be inference")
    return input


@torch_op("Tensor.to", "aten::_to_copy")
def to(input: Value, *, dtype: str | None = None) -> Value:
    return input if dtype is None else cast(input, torch_type(dtype))


@torch_op("Tensor.type_as")
def type_as(input: Value, other: Value) -> Value:
    return cast(input, tensor(other).dtype)
