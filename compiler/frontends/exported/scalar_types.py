"""Torch's numbers for element types, in the archives of its exported programs."""

from ....dialects.core.errors import Unsupported

_SCALAR_TYPES = {
    1: "torch.uint8",
    2: "torch.int8",
    3: "torch.int16",
    4: "torch.int32",
    5: "torch.int64",
    6: "torch.float16",
    7: "torch.float32",
    8: "torch.float64",
    9: "torch.complex32",
    10: "torch.complex64",
    11: "torch.complex128",
    12: "torch.bool",
    13: "torch.bfloat16",
}
"""`ScalarType` of `torch/_export/serde/schema.py`."""


def scalar_type(number: int) -> str:
    """Return torch's name of an element type; Unsupported for one that is not known."""
    if number not in _SCALAR_TYPES:
        raise Unsupported(f"has element type {number} of torch's schema, which is not supported")
    return _SCALAR_TYPES[number]
