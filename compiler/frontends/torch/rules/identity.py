"""Rules for operators that change nothing, or only the element type."""

from typing import Any

from ...core.values import cast, tensor
from ..element_types import parts_type, torch_type
from ..registry import Complex, Value, torch_op
from ..views import as_complex
from .signal import complex


@torch_op("Tensor.clone", "Tensor.contiguous", "Tensor.detach", "torch.clone", "torch.positive")
@torch_op("nn.Identity", "Tensor.resolve_conj", "Tensor.resolve_neg")
@torch_op("aten::alias", "aten::lift_fresh", "aten::lift_fresh_copy")
def identity(input: Any) -> Any:
    return input


@torch_op("Tensor.to", "aten::_to_copy", "prims::convert_element_type", renamed={"a": "input"})
def to(input: Value | Complex, *, dtype: str | None = None) -> Value | Complex:
    """Convert elements; real numbers to complex ones, and these without their imaginary part."""
    if dtype is None:
        return input
    if dtype.startswith("torch.complex"):
        x = input if isinstance(input, Complex) else cast(input, parts_type(dtype))
        return Complex(cast(as_complex(x).parts, parts_type(dtype)))
    return cast(complex.real(input), torch_type(dtype))


@torch_op("Tensor.type_as")
def type_as(input: Value, other: Value) -> Value:
    return cast(input, tensor(other).dtype)
