"""Numbers as text, spelled and read as ONNX Runtime's `Cast` does it."""

from typing import Any

import numpy as np

from ..errors import Invalid

Array = np.ndarray[Any, np.dtype[Any]]

_NOT_FINITE = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}


def spelled_numbers(x: Array) -> Array:
    """Return numbers as Python strings: floats with 8 digits, bools as 1 and 0."""
    spell = _spelled_float if x.dtype.kind not in "biu" else _spelled_integer
    texts = [spell(number) for number in x.reshape(-1)]
    return np.array(texts, object).reshape(x.shape)


def _spelled_float(number: Any) -> str:
    text = f"{float(number):.8g}"
    return _NOT_FINITE.get(text, text)


def _spelled_integer(number: Any) -> str:
    return str(int(number))


def numbers_of(texts: Array, dtype: "np.dtype[Any]") -> Array:
    """Return the numbers that strings spell; integers that do not fit wrap around.

    Raises Invalid for a string that is no number of the type.
    """
    if dtype.kind not in "biu":
        return np.array([_float(text) for text in texts.reshape(-1)], dtype).reshape(texts.shape)
    numbers = [_wrapped(_integer(text)) for text in texts.reshape(-1)]
    return np.array(numbers, np.uint64).astype(dtype).reshape(texts.shape)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid(f"casts {text!r} to a float, must be a number") from None


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Invalid(f"casts {text!r} to an integer, must be one") from None


def _wrapped(number: int) -> int:
    return number % (1 << 64)
