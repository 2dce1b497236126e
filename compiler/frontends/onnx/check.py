"""Check an ONNX model by ONNX's rules before anything is imported: text, versions, nodes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import onnx
import onnx.checker
import onnx.defs
from google.protobuf.message import Message

from ....dialects.core.errors import CompileError, Diagnostic
from .functions import find_schema
from .graph import ONNX_DOMAIN, Named, nested_nodes, operator_domain, subgraphs

MOST_VERSION = (1 << 31) - 1
"""The newest version of an operator set that onnx can look up; it defines those of some domains."""


def check_text(model: onnx.ModelProto, origin: str) -> None:
    """Raise CompileError for names that are not UTF-8: protobuf hands them out as bytes."""
    for text in _texts(model):
        if not isinstance(text, str):
            message = f"is not an ONNX model: the name {text!r} is not UTF-8"
            raise CompileError([Diagnostic(origin, message)])


def _texts(message: Message) -> Iterator[str | bytes]:
    """Yield the values of all string fields of a message and of the messages in it."""
    pending = [message]
    while pending:
        for field, value in pending.pop().ListFields():
            if field.type == field.TYPE_STRING:
                yield from (value,) if isinstance(value, (str, bytes)) else value
            elif field.type == field.TYPE_MESSAGE:
                pending += (value,) if isinstance(value, Message) else value


def operator_sets(model: onnx.ModelProto, origin: str) -> dict[str, int]:
    """Return the version of each operator set that a model imports, by domain; "" is ONNX's own.

    A domain that is not imported has version 1. Raises CompileError for versions that the installed
    onnx does not define.
    """
    known: dict[str, tuple[int, int]] = onnx.defs.C.schema_version_map()
    versions: dict[str, int] = {}
    faults: list[str] = []
    if not 1 <= model.ir_version <= onnx.IR_VERSION:
        faults.append(f"has IR version {model.ir_version}, must be 1 to {onnx.IR_VERSION}")
    for each in model.opset_import:
        domain = "" if each.domain == ONNX_DOMAIN else each.domain
        newest = known[domain][1] if domain in known else MOST_VERSION
        if not 1 <= each.version <= newest:
            what = f"imports version {each.version} of '{domain or ONNX_DOMAIN}'"
            faults.append(f"{what}, must be 1 to {newest}")
        elif versions.setdefault(domain, each.version) != each.version:
            both = f"{versions[domain]} and {each.version}"
            faults.append(f"imports versions {both} of '{domain or ONNX_DOMAIN}', must be one")
    if faults:
        note = f"onnx {onnx.__version__} is installed: convert the model, or install a newer one"
        raise CompileError([Diagnostic(origin, fault, (note,)) for fault in faults])
    return versions


def check_nodes(nodes: Sequence[Named], ir_version: int, versions: Mapping[str, int]) -> None:
    """Raise CompileError that lists all nodes that break the schemas of their operators.

    Those of subgraphs are checked, too. Nodes without a schema, with a deprecated one or with
    subgraphs are not: the checker cannot be told what subgraphs capture, and runtimes accept
    deprecated operators.
    """
    context: Any = onnx.checker.C.CheckerContext()
    context.ir_version = ir_version
    context.opset_imports = {**versions, ONNX_DOMAIN: versions.get("", 1)}
    faults: list[Diagnostic] = []
    for name, proto in nested_nodes(nodes):
        domain = operator_domain(proto)
        schema = find_schema(domain, proto.op_type, versions.get(domain, 1))
        if schema is None or schema.deprecated or subgraphs(proto):
            continue
        try:
            onnx.checker.check_node(proto, context)
        except (onnx.checker.ValidationError, ValueError, UnicodeDecodeError) as error:
            first = str(error).strip().partition("\n")[0]
            faults.append(Diagnostic(name, f"'{proto.op_type}' node breaks its schema: {first}"))
    if faults:
        raise CompileError(faults)
