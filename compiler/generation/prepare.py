"""Make the step of a decoder of an imported model: it computes the logits that are asked for."""

from dataclasses import replace

from ...dialects import tri
from ...dialects.core.attributes import type_of
from ...dialects.core.interface import last_operation, named_outputs, set_names, set_signature
from ...dialects.core.location import node_location
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.sizes.atoms import single_symbol
from ...dialects.core.sizes.symbols import Range
from ...dialects.core.states.generation import Generation, set_generation
from ...dialects.core.symbol_table import set_symbols, symbol_table, symbols_of_function
from ...dialects.core.tensor import Tensor
from .description import DecoderDescription
from .recognize import port_types, recognize
from .sizes import check_caches

ROWS = "logit_rows"
"""The input that lists the tokens of a step, by number, of which the logits are wanted."""


def prepare_generation(module: Module, known: DecoderDescription) -> None:
    """Note what is what in a decoder, and let an input say of which tokens it computes logits.

    A prompt needs those of its last token alone: the vocabulary is most of the work for a short
    one. Raises CompileError for a model that is no decoder.
    """
    decoder = recognize(module, known)
    check_caches(decoder, *port_types(module))
    with module.operation.context, ir.Location.unknown():
        rows = _add_rows(module, decoder)
    with module.operation.context:
        set_generation(module.main, replace(decoder, rows=rows))
    module.verify()


def _add_rows(module: Module, decoder: Generation) -> str:
    """Add the input that lists rows of the logits; return its name, none for steps of one token."""
    inputs, outputs = port_types(module)
    length = single_symbol(outputs[decoder.logits].shape[1])
    if length is None:
        return ""
    name = _free_name(ROWS, {*inputs, *outputs, *symbols_of_function(module.main)})
    size = Range(1, length.range.high, 1)
    symbols = {**symbols_of_function(module.main), name: size}
    type_ = Tensor((symbol_table(module.operation.context).declare(name, size),), "i64")
    set_symbols(module.main, symbols)
    rows = module.main_block.add_argument(type_of(type_), node_location(name, [name]))
    names = [*inputs, name]
    set_names(module.main, "inputs", names)
    _take_rows(module, list(outputs).index(decoder.logits), rows)
    return name


def _take_rows(module: Module, number: int, rows: ir.Value) -> None:
    """Return rows of an output, [batch, tokens, words], in its place."""
    last, name = last_operation(module.main), list(named_outputs(module))[number]
    with ir.InsertionPoint(last), node_location(f"{name}.rows"):
        last.operands[number] = tri.Gather.build(last.operands[number], rows, axis=1).y
    set_signature(module.main)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
