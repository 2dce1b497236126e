"""Keep a part of a model: what computes some of its values from others."""

from collections.abc import Mapping

from ..dialects.core.attributes import tensor_of
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.interface import (
    add_inputs,
    keep_inputs,
    named_inputs,
    named_outputs,
    set_results,
)
from ..dialects.core.location import node_location
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, ops, sources
from ..dialects.core.sizes.dim import symbol, symbols_of
from ..dialects.core.states.carried import keep_states, state_of, updates_of
from ..dialects.core.symbol_scope import symbols_defined
from ..dialects.core.symbol_table import checks_of, set_checks, set_symbols, symbols_of_function
from .core import Pass
from .eliminate import remove_unused
from .source_values import SourceValues

Values = Mapping[str, ir.Value]


class CutModel(Pass):
    """Keep what computes `outputs` from `inputs`: names, or patterns, of values of the source.

    Without `outputs`, those of the model are kept; without `inputs`, those of its inputs that are
    needed. A value in `inputs` becomes an input, and what made it is removed. State stays where
    the input that it becomes is needed. Raises CompileError for a name without a value, and for
    an input of the model that is needed, but not in `inputs`.

        %a = tri.relu %x loc("n"("a"));  %b = tri.exp %a loc("m"("b"));  %c = tri.tanh %b
            =>   main(%a): %b = tri.exp %a      with inputs=a outputs=b
    """

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def run(self, module: Module) -> None:
        if not self.inputs and not self.outputs:
            return
        with module.operation.context:
            values = SourceValues(module)
            asked = values.find(self.inputs, "inputs")
            outputs = values.find(self.outputs, "outputs") if self.outputs else values.outputs
            entered = _enter(module, asked, values)
            outputs = {name: entered.get(value, value) for name, value in outputs.items()}
            set_results(module, _with_states(module, outputs, values))
            remove_unused(module)
            _leave(module, asked)
            keep_states(module.main, named_outputs(module), named_inputs(module))
            _keep_symbols(module)


def _enter(module: Module, asked: Values, values: SourceValues) -> dict[ir.Value, ir.Value]:
    """Make inputs of values, which are used in place of what they were; return these by those."""
    made = {name: value for name, value in asked.items() if value not in values.inputs.values()}
    locations = {name: node_location(name, [name]) for name in made}
    arguments = add_inputs(module, {name: value.type for name, value in made.items()}, locations)
    for name, value in made.items():
        value.replace_all_uses_with(arguments[name])
    return {value: arguments[name] for name, value in made.items()}


def _with_states(module: Module, outputs: Values, values: SourceValues) -> dict[str, ir.Value]:
    """Return outputs, and the new values of the state that they depend on."""
    pairs = {**state_of(module.main), **updates_of(module.main)}
    names = {value: name for name, value in named_inputs(module).items()}
    found, count = dict(outputs), -1
    while len(found) != count:
        count = len(found)
        needed = sources(found.values(), names)
        found |= {
            output: values.outputs[output]
            for output, name in pairs.items()
            if name in needed and output not in found
        }
    return found


def _leave(module: Module, asked: Values) -> None:
    """Erase the inputs that are not needed; where some were `asked` for, only these are kept."""
    pairs = {**state_of(module.main), **updates_of(module.main)}
    used = [name for name, value in named_inputs(module).items() if list(value.uses)]
    faults = [
        Diagnostic("", f"input '{name}' is needed, but not in inputs: add it, or cut behind it")
        for name in used
        if asked and name not in asked and name not in pairs.values()
    ]
    if faults:
        raise CompileError(faults)
    keep_inputs(module, [*used, *asked])


def _keep_symbols(module: Module) -> None:
    """Drop the symbols that nothing gives any more, and what was to hold of them."""
    function = module.main
    ranges = symbols_of_function(function)
    if not ranges:
        return
    types = (tensor_of(argument.type) for argument in module.main_block.arguments)
    given = {name for type_ in types for name in type_.symbols}
    for op in ops(function):
        given |= symbols_defined(op)
    checks = checks_of(function)
    set_checks(function, [c for c in checks if symbols_of(c.expression).keys() <= given])
    known = {n: r for n, r in ranges.items() if symbols_of(symbol(n, r)).keys() <= given}
    set_symbols(function, known)
