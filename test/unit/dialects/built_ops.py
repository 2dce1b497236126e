"""Modules with one op, built from operand types and attributes: for the laws that ops obey."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from trivium.dialects.core.attributes import type_of
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import declare_symbols, set_symbols
from trivium.dialects.core.tensor import Tensor

NO_SYMBOLS: Mapping[str, Range] = MappingProxyType({})


def completed(op: type[Op], given: dict[str, Any]) -> dict[str, Any]:
    return {f.name: f.default for f in op.fields.attributes if not f.required} | given


def built(
    op: type[Op],
    types: Sequence[Any],
    given: Mapping[str, Any],
    ranges: Mapping[str, Range] = NO_SYMBOLS,
) -> Module:
    """Build the op in a function of operands of given types, which declares symbols.

    Symbols of attributes alone are sizes of one more input.
    """
    module = Module(ir.Module.create())
    flat = [t for group in types for t in (group if isinstance(group, list) else [group])]
    given_types = [t for t in flat if t is not None]
    others = ranges.keys() - {name for t in given_types for name in t.symbols}
    if others:
        shape = tuple(symbol(name, ranges[name]) for name in sorted(others))
        given_types.append(Tensor(shape, "f32"))
    inputs = [type_of(t) for t in given_types]
    with ir.InsertionPoint(module.ir.body):
        signature = ir.TypeAttr.get(ir.FunctionType.get(inputs, []))
        attributes = {"sym_name": ir.StringAttr.get("main"), "function_type": signature}
        function = ir.Operation.create("func.func", [], [], attributes, regions=1)
        set_symbols(function, ranges)
        declare_symbols(function)
        block = ir.Block.create_at_start(function.regions[0], [])
        arguments = iter([block.add_argument(t, ir.Location.unknown()) for t in inputs])
        with ir.InsertionPoint(block):
            groups = [taken(arguments, group) for group in types]
            op.build(*groups, **given)
            ir.Operation.create("func.return")
    return module


def taken(arguments: Iterator[ir.Value], group: Any) -> Any:
    """Take as many arguments as an operand field has values."""
    if group is None:
        return None
    return [next(arguments) for _ in group] if isinstance(group, list) else next(arguments)
