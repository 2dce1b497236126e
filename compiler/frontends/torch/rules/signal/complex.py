"""Rules for complex numbers and their parts."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import numpy_dtype
from ....core.values import constant, tensor
from ...complex_expressions import joined, split
from ...registry import Complex, Value, torch_op
from ...views import parts


@torch_op("torch.complex")
def complex_(real: Value, imag: Value) -> Complex:
    return joined(real, imag)


@torch_op("torch.real")
def real(input: Value | Complex) -> Value:
    return split(input)[0] if isinstance(input, Complex) else input


@torch_op("torch.imag")
def imag(input: Complex) -> Value:
    return split(input)[1]


@torch_op("torch.view_as_complex")
def view_as_complex(input: Value) -> Complex:
    if tensor(input).shape[-1:] != (2,):
        raise Invalid(f"has an input {tensor(input)}, must have a last axis of 2")
    return Complex(input)


@torch_op("torch.view_as_real")
def view_as_real(input: Complex) -> Value:
    return input.parts


@torch_op("torch.conj", "Tensor.conj")
def conj(input: Value | Complex) -> Value | Complex:
    return conjugate(input)


def conjugate(x: Value | Complex) -> Value | Complex:
    """Turn the sign of the imaginary part."""
    if not isinstance(x, Complex):
        return x
    signs = constant(np.array([1, -1], numpy_dtype(tensor(parts(x)).dtype)))
    return Complex(tri.Mul.build(x.parts, signs).y)
