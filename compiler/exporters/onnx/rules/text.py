"""ONNX rules for ops on text, and for tables whose keys may be text."""

from onnx import numpy_helper

from .....dialects import tri
from ..graph import OnnxGraph, exports


@exports(tri.StringConcat)
def string_concat(op: tri.StringConcat, graph: OnnxGraph) -> None:
    graph.add("StringConcat", [op.a, op.b], [op.y], since=20)


@exports(tri.StringSplit)
def string_split(op: tri.StringSplit, graph: OnnxGraph) -> None:
    most = None if op.maxsplit < 0 else op.maxsplit
    outputs = [op.y, op.counts]
    graph.add("StringSplit", [op.x], outputs, since=20, delimiter=op.delimiter, maxsplit=most)


@exports(tri.StringNormalize)
def string_normalize(op: tri.StringNormalize, graph: OnnxGraph) -> None:
    graph.add(
        "StringNormalizer",
        [op.x],
        [op.y],
        case_change_action=op.case.upper(),
        is_case_sensitive=int(op.case_sensitive),
        stopwords=list(op.stopwords) or None,
    )


@exports(tri.RegexFullMatch)
def regex_full_match(op: tri.RegexFullMatch, graph: OnnxGraph) -> None:
    graph.add("RegexFullMatch", [op.x], [op.y], since=20, pattern=op.pattern)


@exports(tri.Lookup)
def lookup(op: tri.Lookup, graph: OnnxGraph) -> None:
    tables = {"keys": op.keys, "values": op.values, "default": op.default}
    arrays = {name: graph.array(value, name) for name, value in tables.items()}
    arrays["default"] = arrays["default"].reshape(1)
    attributes = {
        f"{name}_tensor": numpy_helper.from_array(array, name) for name, array in arrays.items()
    }
    graph.add("ai.onnx.ml::LabelEncoder", [op.x], [op.y], since=4, **attributes)
