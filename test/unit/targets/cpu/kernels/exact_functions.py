"""Activation functions of f64, by the C library: what those of narrower types are compared with."""

import math

import numpy as np
from trivium.dialects.core.tensor import Array


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@np.vectorize
def normal_distribution(x: float) -> float:
    return math.erfc(x * -math.sqrt(0.5)) / 2


def gelu(x: Array) -> Array:
    return x * normal_distribution(x)


def gelu_tanh(x: Array) -> Array:
    return x * sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x**3))
