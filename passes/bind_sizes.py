"""Give sizes to the symbols of a module: types, attributes, checks."""

from collections.abc import Mapping
from typing import Any

from ..dialects.core.attributes import order_of, tensor_of, type_of
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.interface import set_signature
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, functions
from ..dialects.core.op import Op, view
from ..dialects.core.sizes.atoms import Size
from ..dialects.core.sizes.binding import decided_sizes, replaced, symbols_in
from ..dialects.core.sizes.checks import Check
from ..dialects.core.sizes.dim import symbol, symbols_of
from ..dialects.core.sizes.limits import at_least, is_same
from ..dialects.core.sizes.substitution import substitute
from ..dialects.core.sizes.symbols import Range
from ..dialects.core.symbol_table import (
    checks_of,
    declare_symbols,
    set_checks,
    set_symbols,
    symbols_of_function,
)
from ..dialects.core.tensor import Tensor
from .core import Pass

Sizes = Mapping[str, Size]


class BindSizes(Pass):
    """Give sizes to symbols of a module: the options are their names, `bind-sizes{T=128 N=1}`.

    Checks that the sizes decide are dropped; one that fails is an error, and so are a size out of
    its range and a name that no symbol has. Bound symbols are gone: they cannot be bound twice.

        %y = tri.relu %x : tensor<?xf32, ["T"]>   =>   %y = tri.relu %x : tensor<128xf32>
    """

    sizes: tuple[tuple[str, int], ...] = ()

    @classmethod
    def parse(cls, options: str) -> "BindSizes":
        """Make the pass from option text such as `T=128 N=1`; raises CompileError for others."""
        sizes: dict[str, int] = {}
        for text in options.split():
            name, _, size = text.partition("=")
            if not size.isdecimal() or name in sizes:
                raise CompileError(f"pass '{cls.name}' option '{text}' must be like T=128, once")
            sizes[name] = int(size)
        return cls(tuple(sizes.items()))

    def __str__(self) -> str:
        shown = " ".join(f"{name}={size}" for name, size in self.sizes)
        return self.name + (f"{{{shown}}}" if shown else "")

    def run(self, module: Module) -> None:
        bind_sizes(module, dict(self.sizes))


def bind_sizes(module: Module, sizes: Mapping[str, int]) -> None:
    """Give sizes to symbols of a module, in place; raises CompileError as the pass describes."""
    if not sizes:
        return
    with module.operation.context, ir.Location.unknown():
        ranges = {f: symbols_of_function(f) for f in functions(module.operation)}
        known = dict.fromkeys(name for each in ranges.values() for name in each)
        for name in sizes:
            if name not in known:
                listed = ", ".join(known) or "none"
                raise CompileError(f"the module has no symbol '{name}', it has: {listed}")
        for function, declared in ranges.items():
            given = {name: size for name, size in sizes.items() if name in declared}
            if given:
                _bind_function(function, declared, given)


def bind_decided_sizes(module: Module) -> None:
    """Give sizes to symbols of which the checks of a module leave no choice, in place.

    Raises CompileError where checks contradict one another, or the range of a symbol.
    """
    main = module.main
    decided = decided_sizes(checks_of(main))
    declared = symbols_of_function(main)
    bind_sizes(module, {name: size for name, size in decided.items() if name in declared})


def _bind_function(
    function: ir.Operation, ranges: Mapping[str, Range], given: Mapping[str, int]
) -> None:
    declare_symbols(function)
    values: dict[str, Size] = {}
    for name, size in given.items():
        if fault := ranges[name].fault(size):
            raise CompileError(f"symbol '{name}' is {size}, must be {fault}")
        for atom in symbols_of(symbol(name, ranges[name])):
            values[atom] = size if atom == name else size // ranges[name].step
    set_checks(function, _remaining(checks_of(function), values))
    set_symbols(function, {name: each for name, each in ranges.items() if name not in given})
    for region in function.regions:
        for block in region.blocks:
            _bind_block(block, values)
    set_signature(function)


def _remaining(checks: tuple[Check, ...], values: Sizes) -> dict[Check, None]:
    """Return the checks that sizes do not decide; raise CompileError with all those that fail."""
    kept: dict[Check, None] = {}
    faults: list[Diagnostic] = []
    for check in checks:
        expression = substitute(check.expression, values)
        compare = is_same if check.relation == "==" else at_least
        answer = compare(expression, 0)
        if answer is None:
            kept[Check(expression, check.relation, check.message, check.node)] = None
        if answer is False:
            names = [name for name in symbols_of(check.expression) if name in values]
            where = ", ".join(f"{name} = {values[name]}" for name in names)
            faults.append(Diagnostic(check.node, f"{check.message}, where {where}"))
    if faults:
        raise CompileError(faults)
    return kept


def _bind_block(block: ir.Block, values: Sizes) -> None:
    for argument in block.arguments:
        _substitute_type(argument, values)
    for operation in block.operations:
        for region in operation.operation.regions:
            for inner in region.blocks:
                _bind_block(inner, values)
        op = view(operation)
        if op is not None:
            _bind_op(op, values)


def _bind_op(op: Op, values: Sizes) -> None:
    """Bind attributes and types; results are inferred anew: others of equal sizes may be chosen."""
    if op.symbols:
        given = {name: value for name, value in op.attributes.items() if {*symbols_in(value)}}
        op.set_attributes({name: replaced(value, values) for name, value in given.items()})
    if all(map(_is_static, op.results)):
        return
    if op.fields.regions:
        for value in op.results:
            _substitute_type(value, values)
        return
    types = [
        [tensor_of(value.type) for value in each] for each in map(_values, op.operand_groups())
    ]
    groups = [
        each if field.arity == "many" else each[0] if each else None
        for field, each in zip(op.fields.operands, types, strict=True)
    ]
    made = op.without_operation().infer_results(groups)
    for value, tensor in zip(op.results, made, strict=True):
        value.set_type(type_of(tensor, order_of(value.type)))


def _values(group: Any) -> list[ir.Value]:
    return [] if group is None else [group] if isinstance(group, ir.Value) else list(group)


def _is_static(value: ir.Value) -> bool:
    type_ = value.type
    return not isinstance(type_, ir.RankedTensorType) or type_.has_static_shape


def _substitute_type(value: ir.Value, values: Sizes) -> None:
    if _is_static(value):
        return
    tensor = tensor_of(value.type)
    value.set_type(
        type_of(Tensor(replaced(tensor.shape, values), tensor.dtype), order_of(value.type))
    )
