"""Quantisation configs in the JSON of PPL: numbers of each tensor, and a data type of each node.

    {
      "quant_info": {
        "x": {"bit_width": 8, "per_channel": false, "sym": true, "algorithm": "minmax",
              "scale": 0.02, "zero_point": 0, "tensor_min": -2.5, "tensor_max": 2.5,
              "q_min": -128, "q_max": 127}
      },
      "op_info": {"conv": {"data_type": "INT8"}}
    }

A tensor is a value, or the weights of a product, which may have a scale for each channel. Where
`op_info` names any node, those that it does not name, or names FLOAT32, read floats. Source of the
fields: `tests/testdata/quant_test.json` of ppl.nn, and what its quantiser PPQ writes.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ...dialects.core.errors import CompileError, Diagnostic, Invalid
from ...dialects.core.files import write_file
from ...dialects.core.quantized import QuantizedType, storage_range
from .scale_table import Scale, read_json

STORAGE = {
    (bits, *storage_range(f"{sign}{bits}")): f"{sign}{bits}"
    for bits in (8, 16)
    for sign in ("i", "ui")
}
"""The type that holds integers of a `bit_width`, from `q_min` to `q_max`."""

DATA_TYPES = {"INT8": 8, "INT16": 16, "FLOAT32": 0}
"""How many bits the integers have that a node reads, 0 for floats."""

_NUMBER, _WHOLE, _TRUTH = "a finite number", "an integer", "true or false"
_TYPES = {_NUMBER: (int, float), _WHOLE: (int,), _TRUTH: (bool,), "a text": (str,)}
_FIELDS = {
    "bit_width": _WHOLE,
    "per_channel": _TRUTH,
    "sym": _TRUTH,
    "scale": _NUMBER,
    "zero_point": _NUMBER,
    "q_min": _WHOLE,
    "q_max": _WHOLE,
    "algorithm": "a text",
    "quant_flag": _TRUTH,
    "tensor_min": _NUMBER,
    "tensor_max": _NUMBER,
    "hash": _WHOLE,
    "dominator": _WHOLE,
}
"""What the fields of a tensor are. PPQ's `hash` and `dominator` are numbers of its own objects."""

_NEEDED = ("bit_width", "per_channel", "sym", "scale", "zero_point", "q_min", "q_max")
_LISTS = ("scale", "zero_point", "tensor_min", "tensor_max")
"""Fields of which there is one for each channel where `per_channel` is true."""


@dataclass(frozen=True)
class QuantConfig:
    """Hold the scales of tensors by name, whether per channel or not, and data types of nodes.

    The types of weights have no axis yet: scales of several channels are `channels`.
    """

    tensors: Mapping[str, Scale] = field(default_factory=dict[str, Scale])
    channels: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    nodes: Mapping[str, str] = field(default_factory=dict[str, str])
    method: str = ""

    def save(self, path: str) -> None:
        """Write the config; raises CompileError when that is not possible."""
        info = {name: _entry(scale, self.method) for name, scale in self.tensors.items()}
        info |= {name: _weights_entry(each, self.method) for name, each in self.channels.items()}
        nodes = {name: {"data_type": data_type} for name, data_type in self.nodes.items()}
        write_file(path, json.dumps({"quant_info": info, "op_info": nodes}, indent=2) + "\n")

    @staticmethod
    def load(path: str) -> "QuantConfig":
        """Read a config; raises CompileError that lists all that is wrong, each with its place."""
        reader = _Reader(path)
        config = reader.config(read_json(path))
        if reader.faults:
            raise CompileError(reader.faults)
        return config


def _entry(scale: Scale, method: str) -> dict[str, Any]:
    kind = scale.kind
    (number,), (zero,) = kind.scales, kind.zero_points
    bits = next(bits for (bits, *_), storage in STORAGE.items() if storage == kind.storage)
    return {
        "bit_width": bits,
        "per_channel": False,
        "sym": zero == _middle(kind.low, kind.high),
        "algorithm": method,
        "scale": number,
        "zero_point": zero,
        "tensor_min": scale.least,
        "tensor_max": scale.most,
        "q_min": kind.low,
        "q_max": kind.high,
    }


def _weights_entry(scales: tuple[float, ...], method: str) -> dict[str, Any]:
    least, most = storage_range("i8")
    return {
        "bit_width": 8,
        "per_channel": True,
        "sym": True,
        "algorithm": method,
        "scale": list(scales),
        "zero_point": [0] * len(scales),
        "tensor_min": [-scale * most for scale in scales],
        "tensor_max": [scale * most for scale in scales],
        "q_min": least,
        "q_max": most,
    }


def _is_of(item: Any, types: tuple[type, ...]) -> bool:
    return type(item) in types and (not isinstance(item, float) or math.isfinite(item))


def _middle(least: int, most: int) -> int:
    return 0 if least < 0 else most + 1 >> 1


class _Reader:
    """Read the parts of a config, and gather all faults."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.faults: list[Diagnostic] = []

    def _fault(self, where: str, message: str) -> None:
        place = f"{self._path}: {where}" if where else self._path
        self.faults.append(Diagnostic(place, message))

    def config(self, found: Any) -> QuantConfig:
        if not isinstance(found, dict) or "quant_info" not in found:
            self._fault("", "is no quantisation config: must have 'quant_info'")
            return QuantConfig()
        parts = cast("dict[str, Any]", found)
        for key in parts.keys() - {"quant_info", "op_info"}:
            self._fault("", f"has '{key}', must have quant_info and op_info alone")
        tensors: dict[str, Scale] = {}
        channels: dict[str, tuple[float, ...]] = {}
        methods: dict[str, None] = {}
        for name, given in self._entries(parts, "quant_info"):
            where = f"quant_info.{name}"
            if not self._is_well_formed(given, where) or not given.get("quant_flag", True):
                continue
            if (kinds := self._kinds(given, where)) is None:
                continue
            methods |= {str(given.get("algorithm", "")): None}
            if given["per_channel"]:
                channels[name] = tuple(kind.scales[0] for kind in kinds)
                continue
            least, most = (float(given.get(f"tensor_{end}", 0.0)) for end in ("min", "max"))
            tensors[name] = Scale(kinds[0], least, most)
        return QuantConfig(tensors, channels, self._nodes(parts), ", ".join(filter(None, methods)))

    def _entries(self, parts: Mapping[str, Any], key: str) -> Iterator[tuple[str, dict[str, Any]]]:
        entries = parts.get(key, {})
        if not isinstance(entries, dict):
            self._fault(key, f"is {json.dumps(entries)}, must have fields by name")
            return
        for name, given in cast("dict[str, Any]", entries).items():
            if isinstance(given, dict):
                yield name, cast("dict[str, Any]", given)
            else:
                self._fault(f"{key}.{name}", f"is {json.dumps(given)}, must have fields by name")

    def _nodes(self, parts: Mapping[str, Any]) -> dict[str, str]:
        nodes: dict[str, str] = {}
        for name, given in self._entries(parts, "op_info"):
            where, data_type = f"op_info.{name}", given.get("data_type")
            for key in given.keys() - {"data_type"}:
                self._fault(where, f"has '{key}', must have data_type alone")
            if data_type not in DATA_TYPES:
                known = ", ".join(DATA_TYPES)
                self._fault(where, f"has data_type {json.dumps(data_type)}, must be of {known}")
                continue
            nodes[name] = data_type
        return nodes

    def _is_well_formed(self, given: Mapping[str, Any], where: str) -> bool:
        """Report all fields that are missing, unknown or of another type."""
        before = len(self.faults)
        for key in _NEEDED:
            if key not in given:
                self._fault(where, f"lacks '{key}'")
        for key, value in given.items():
            if key not in _FIELDS:
                self._fault(where, f"has '{key}', must have {', '.join(_FIELDS)} alone")
                continue
            must = _FIELDS[key]
            several = key in _LISTS and given.get("per_channel") is True
            items = cast("list[Any]", value) if several and isinstance(value, list) else [value]
            if several and not isinstance(value, list):
                self._fault(where, f"has {key} {json.dumps(value)}, must be a list: per_channel")
            elif not all(_is_of(item, _TYPES[must]) for item in items):
                self._fault(where, f"has {key} {json.dumps(value)}, must be {must}")
        return len(self.faults) == before

    def _kinds(self, given: Mapping[str, Any], where: str) -> list[QuantizedType] | None:
        """Return the type of each channel, of one where there is one scale; None for faults."""
        key = given["bit_width"], given["q_min"], given["q_max"]
        if key not in STORAGE:
            ranges = ", ".join(f"{bits} with {low}..{high}" for bits, low, high in STORAGE)
            what = f"bit_width {key[0]} with q_min..q_max {key[1]}..{key[2]}"
            return self._fault(where, f"has {what}, must be {ranges}")
        lists = given["per_channel"]
        scales, points = ([*given[k]] if lists else [given[k]] for k in ("scale", "zero_point"))
        if len(points) != len(scales) or not scales:
            return self._fault(where, f"has {len(scales)} scales and {len(points)} zero points")
        if any(point != int(point) for point in points):
            return self._fault(where, f"has zero_point {points}, must be integers")
        if lists and (STORAGE[key] != "i8" or any(points)):
            return self._fault(where, "is per channel, as weights are: must be i8, zero_point 0")
        middle = _middle(*key[1:])
        if given["sym"] and any(point != middle for point in points):
            return self._fault(where, f"is sym, so zero_point must be {middle}")
        least, most = given.get("tensor_min", 0.0), given.get("tensor_max", 0.0)
        if not lists and least > most:
            return self._fault(where, f"has tensor_min {least} above tensor_max {most}")
        try:
            storage = STORAGE[key]
            return [
                QuantizedType.of(storage, [scale], [int(point)])
                for scale, point in zip(scales, points, strict=True)
            ]
        except Invalid as error:
            return self._fault(where, str(error))
