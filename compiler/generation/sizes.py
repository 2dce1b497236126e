"""Find what the sizes of a decoder are bound to: the batch, the tokens of a step, its caches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ...dialects.core.errors import CompileError
from ...dialects.core.mlir import new_context
from ...dialects.core.module import Module
from ...dialects.core.sizes.atoms import Size, single_symbol
from ...dialects.core.sizes.substitution import substitute
from ...dialects.core.sizes.symbols import Range
from ...dialects.core.states.generation import NO_ROWS, Cache, Generation
from ...targets.generation_sizes import GenerationSizes, sizes_of_generation
from ...targets.options import CompileOptions
from .description import DecoderDescription
from .recognize import Types, port_types, recognize

LIKELY_ROWS = 256
"""How many rows of a cache are in use at most where costs are estimated."""

_FAR, _NEAR = 1 << 20, 1 << 10


def with_bound_sizes(
    read: Callable[[CompileOptions], Module], known: DecoderDescription, options: CompileOptions
) -> CompileOptions:
    """Return options that bind the sizes of a decoder, and have its caches updated in place.

    What the user binds stays. `read` imports the model, to see its ports. Raises CompileError for
    one that is no decoder.
    """
    sizes = sizes_of_generation(options.generate)
    capacity = sizes.capacity_within(known.context)
    with new_context():
        module = read(replace(options, states=None))
        decoder, ports = recognize(module, known), port_types(module)
        found = _bindings(decoder, *ports, sizes, capacity)
    shapes = {**found.shapes, **(options.shapes or {})}
    return replace(options, shapes=shapes, states=found.states)


@dataclass
class _Bindings:
    """Gather sizes by the names of symbols, and the inputs of caches of a fixed size by outputs."""

    shapes: dict[str, int | Range] = field(default_factory=dict[str, int | Range])
    states: dict[str, str] = field(default_factory=dict[str, str])


def _bindings(
    decoder: Generation, inputs: Types, outputs: Types, sizes: GenerationSizes, capacity: int
) -> _Bindings:
    batch, length = map(_name, inputs[decoder.ids].shape)
    rows = _name(inputs[decoder.mask].shape[1]) if decoder.mask else ""
    found = _Bindings()
    for cache in decoder.caches:
        if cache.rows_axis == NO_ROWS:
            continue
        before = inputs[cache.input].shape[cache.rows_axis]
        after = outputs[cache.output].shape[cache.rows_axis]
        size = before
        if name := _name(before):
            found.shapes[name] = size = _capacity(name, after, rows, capacity)
            if size == 0:
                fault = f"capacity is 1, must be at least 2: '{cache.output}' grows"
                raise CompileError(fault)
        if isinstance(size, int):
            found.states[cache.output] = cache.input
    found.shapes |= {rows: _range(1, capacity, LIKELY_ROWS)} if rows else {}
    found.shapes |= {batch: _range(1, sizes.batch, 1)} if batch else {}
    found.shapes |= {length: _range(1, min(sizes.chunk, capacity), 1)} if length else {}
    return found


def _name(size: Size) -> str:
    """Return the name of a size that is one symbol, or nothing."""
    symbol = single_symbol(size)
    return symbol.name if symbol else ""


def _capacity(name: str, after: Size, rows: str, capacity: int) -> int | Range:
    """Return the size of a cache: a number where rows behind those in use may be in it.

    It has as many rows after a step then, as long as these suffice. Other caches grow, to the
    capacity by a last step of one token.
    """
    suffices: Mapping[str, Size] = {name: _FAR, rows: _NEAR}
    if rows and rows != name and substitute(after, suffices) == _FAR:
        return capacity
    if not rows and _name(after) == name:
        return capacity
    return _range(0, capacity - 1, LIKELY_ROWS)


def _range(low: int, high: int, likely: int) -> int | Range:
    return high if low == high else Range(low, high, max(low, min(likely, high)))


def check_caches(decoder: Generation, inputs: Types, outputs: Types) -> None:
    """Raise CompileError unless each cache has its own size after a step, or the new rows more."""
    length = inputs[decoder.ids].shape[1]
    for cache in decoder.caches:
        if fault := _fault(cache, inputs, outputs, length):
            raise CompileError(fault)


def _fault(cache: Cache, inputs: Types, outputs: Types, length: Size) -> str:
    before, after = inputs[cache.input].shape, outputs[cache.output].shape
    grown = tuple(s + length if a == cache.rows_axis else s for a, s in enumerate(before))
    if after in (before, grown):
        return ""
    return (
        f"'{cache.output}' is {outputs[cache.output]}, must be of the size of '{cache.input}', "
        f"{inputs[cache.input]}, or have {length} rows more"
    )
