"""The activations of recurrent layers, as functions of a number and of their alpha and beta."""

from collections.abc import Callable

from .....dialects.tri.recurrent.recurrence import NamedActivation
from ...kernels.functions.approximation import expm1, sigmoid, softplus, tanh
from ...kernels.value import Value


def function_of(activation: NamedActivation) -> Callable[[Value], Value]:
    """Return an activation as a function."""
    name, parameters = activation
    return lambda x: _FUNCTIONS[name](x, *parameters)


def _affine(x: Value, alpha: float, beta: float) -> Value:
    return x.fma(alpha, beta)


def _elu(x: Value, alpha: float) -> Value:
    return x.less(0).select(expm1(x.minimum(0)) * alpha, x)


def _hard_sigmoid(x: Value, alpha: float, beta: float) -> Value:
    return x.fma(alpha, beta).maximum(0).minimum(1)


def _leaky_relu(x: Value, alpha: float) -> Value:
    return x.less(0).select(x * alpha, x)


def _relu(x: Value) -> Value:
    return x.maximum(0)


def _scaled_tanh(x: Value, alpha: float, beta: float) -> Value:
    return tanh(x * beta) * alpha


def _softsign(x: Value) -> Value:
    return x / (x.abs() + 1)


def _thresholded_relu(x: Value, alpha: float) -> Value:
    return x.greater(alpha).select(x, 0)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "Affine": _affine,
    "Elu": _elu,
    "HardSigmoid": _hard_sigmoid,
    "LeakyRelu": _leaky_relu,
    "Relu": _relu,
    "ScaledTanh": _scaled_tanh,
    "Sigmoid": sigmoid,
    "Softplus": softplus,
    "Softsign": _softsign,
    "Tanh": tanh,
    "ThresholdedRelu": _thresholded_relu,
}
