"""Describe tensors to the copy engine of a GPU: CUtensorMap."""

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
