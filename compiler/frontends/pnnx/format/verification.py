"""Verify a PNNX graph that code has changed. No MLIR."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from .....dialects.core.errors import Diagnostic
from .operator import Operand, Operator
from .tensor_type import SIZES, Dimensions

_TOKEN = re.compile(r"[^ \t\n\r\v\f\ud800-\udfff]+")
_NAME = re.compile(r"[^ \t\n\r\v\f=\ud800-\udfff]+")
_SYMBOL = re.compile(r"[^(), \t\n\r\v\f\ud800-\udfff]+")
_LONGEST_ENTRY = 0xFFFF


def find_faults(
    operators: Sequence[Operator],
    operands: Mapping[str, Operand],
    where: Callable[[Operator], str],
) -> list[Diagnostic]:
    """List every fault of a graph: those of operators in their order, then those of operands.

    `where` returns the location of an operator in messages.
    """
    names: set[str] = set()
    made: dict[str, Operand] = {}
    readers: dict[Operand, Counter[Operator]] = {}
    found: list[Diagnostic] = []
    for operator in operators:
        faults = [*_name_faults(operator, names), *_edge_faults(operator, made, operands)]
        faults += [*_slot_faults(operator), *_parameter_faults(operator)]
        faults += _attribute_faults(operator)
        head = f"'{operator.type}' operator '{operator.name}'"
        found += [Diagnostic(where(operator), f"{head} {fault}") for fault in faults]
        for operand in operator.inputs:
            readers.setdefault(operand, Counter())[operator] += 1
    for name, operand in operands.items():
        reading = readers.get(operand, Counter[Operator]())
        faults = _operand_faults(operand, made.get(name), reading)
        found += [Diagnostic("", f"operand '{name}' {fault}") for fault in faults]
    return found


def _name_faults(operator: Operator, names: set[str]) -> Iterator[str]:
    if not _TOKEN.fullmatch(operator.name) or not _TOKEN.fullmatch(operator.type):
        yield "has a blank in its name or type, or none of these"
    if operator.name in names:
        yield "has the name of another operator"
    names.add(operator.name)


def _edge_faults(
    operator: Operator, made: dict[str, Operand], operands: Mapping[str, Operand]
) -> Iterator[str]:
    for operand in operator.inputs:
        if made.get(operand.name) is not operand:
            yield f"takes operand '{operand.name}', which no operator before it makes"
    for operand in operator.outputs:
        if operand.producer is not operator or operand.name in made:
            yield f"makes operand '{operand.name}', which another makes"
        if operands.get(operand.name) is not operand:
            yield f"makes operand '{operand.name}', which is not in the graph"
        made[operand.name] = operand


def _slot_faults(operator: Operator) -> Iterator[str]:
    if len(operator.slots) != len(operator.inputs):
        yield f"has {len(operator.slots)} slots, must have {len(operator.inputs)}, one an input"
    for slot, count in Counter(filter(None, operator.slots)).items():
        if count > 1:
            yield f"has slot '{slot}' twice"
        yield from _key_fault("slot", slot)


def _parameter_faults(operator: Operator) -> Iterator[str]:
    for key, parameter in operator.parameters.items():
        yield from _key_fault("parameter", key)
        if key[:1] in ("@", "$", "#"):
            yield f"has a parameter '{key}', must not begin with @, $ or #"
        if parameter.text and not _TOKEN.fullmatch(parameter.text):
            yield f"has a parameter '{key}' with a blank in its text"


def _attribute_faults(operator: Operator) -> Iterator[str]:
    for key, attribute in operator.attributes.items():
        yield from _key_fault("attribute", key)
        if len(f"{operator.name}.{key}".encode(errors="replace")) > _LONGEST_ENTRY:
            yield f"has an attribute '{key[:24]}…', whose name is too long for an entry"
        if fault := _type_fault(attribute.shape, attribute.dtype):
            yield f"has an attribute '{key}' that {fault}"


def _operand_faults(
    operand: Operand, made: Operand | None, readers: Counter[Operator]
) -> Iterator[str]:
    if made is not operand:
        yield "is made by no operator"
    if not _NAME.fullmatch(operand.name):
        yield "has a blank or '=' in its name"
    if Counter(operand.consumers) != readers:
        yield f"is said to be read by {_listed(operand.consumers)}, is by {_listed([*readers])}"
    if operand.shape is not None and (fault := _type_fault(operand.shape, operand.dtype)):
        yield fault


def _type_fault(shape: Dimensions, dtype: str | None) -> str | None:
    if dtype is not None and dtype not in SIZES:
        return f"is of type '{dtype}', must be one of {', '.join(SIZES)}, null"
    for size in shape:
        if isinstance(size, str) and not _SYMBOL.fullmatch(size):
            return f"has a symbol '{size}', must be a name without brackets, commas and blanks"
        if isinstance(size, int) and size < 0:
            return f"has a size {size}, must not be negative"
    return None


def _key_fault(what: str, key: str) -> Iterator[str]:
    if not _NAME.fullmatch(key):
        yield f"has {what} '{key}', must be a name without blanks and '='"


def _listed(operators: Sequence[Operator]) -> str:
    return ", ".join(f"'{each.name}'" for each in operators) or "nobody"
