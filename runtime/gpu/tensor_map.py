"""Describe tensors to the copy engine of a GPU: CUtensorMap."""

import ctypes

from ..dtypes import itemsize
from .code import GpuParameter
from .driver import Driver

MAP_DTYPES = {
    "bool": 0,
    "int8": 0,
    "uint8": 0,
    "float8_e4m3fn": 0,
    "float8_e5m2": 0,
    "int16": 1,
    "uint16": 1,
    "uint32": 2,
    "int32": 3,
    "uint64": 4,
    "int64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bfloat16": 9,
}
"""The numbers of CUtensorMapDataType, by element type."""

_SIZE, _ALIGNMENT = 128, 64
_NO_INTERLEAVE, _PROMOTE_TO_128_BYTES, _FILL_WITH_ZEROS = 0, 2, 0


def encode_map(
    driver: Driver, parameter: GpuParameter, address: int
) -> ctypes.Array[ctypes.c_char]:
    """Return the map of a tensor at `address`; what the driver counts from the innermost axis."""
    rank = len(parameter.shape)
    width = itemsize(parameter.dtype) or 1
    room = ctypes.create_string_buffer(_SIZE + _ALIGNMENT)
    start = -ctypes.addressof(room) % _ALIGNMENT
    result = (ctypes.c_char * _SIZE).from_buffer(room, start)
    strides = [stride * width for stride in reversed(parameter.strides[:-1])]
    driver.call(
        "cuTensorMapEncodeTiled",
        ctypes.addressof(result),
        MAP_DTYPES[parameter.dtype],
        rank,
        address,
        (ctypes.c_uint64 * rank)(*reversed(parameter.shape)),
        # Room for one, for a tensor of one axis has none.
        (ctypes.c_uint64 * max(1, rank - 1))(*strides),
        (ctypes.c_uint * rank)(*reversed(parameter.block)),
        (ctypes.c_uint * rank)(*[1] * rank),
        _NO_INTERLEAVE,
        parameter.swizzle,
        _PROMOTE_TO_128_BYTES,
        _FILL_WITH_ZEROS,
    )
    return result
