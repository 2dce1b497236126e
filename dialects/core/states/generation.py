"""What is what in a decoder: an attribute of the function that makes one token after the other.

func.func @main(…) attributes {trivium.generation = {
    ids = "input_ids", logits = "logits", mask = "attention_mask", positions = "", rows = "",
    caches = [["present.0.key", "past_key_values.0.key", 0 : i64, 2 : i64]],
    ends = array<i64: 2>, sampling = {temperature = 0.7 : f64, top_k = 50 : i64}}}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..attributes import from_attribute, tensor_of, to_attribute
from ..errors import Invalid
from ..mlir import ir
from ..port_names import port_names

GENERATION = "trivium.generation"
"""The attribute of a function that is the step of a decoder."""

NO_ROWS = -1
"""Stands for the axis of the rows of state that has none, such as that of an LSTM."""

_PORTS = ("ids", "logits", "mask", "positions", "starts", "totals", "rows")
_WIDTHS = {"ids": 2, "mask": 2, "positions": 2, "starts": 1, "totals": 1, "rows": 1}


@dataclass(frozen=True)
class Cache:
    """Name an output that is an input of the next step; say along which axes entries and rows are.

    A step writes rows behind those in use, one for each token. `rows_axis` is `NO_ROWS` where a
    step replaces the whole value.
    """

    output: str
    input: str
    batch_axis: int = 0
    rows_axis: int = NO_ROWS


@dataclass(frozen=True)
class Generation:
    """Name the ports of a decoder; those that it does not have are empty.

    `ids` are tokens [batch, length], `mask` is one for each row in use [batch, rows], `positions`
    are those of the tokens; `starts` and `totals` are how many tokens a text has before and after
    the step [batch]; `rows` lists of which of the tokens `logits` are wanted. `ends` are tokens
    that end a text, and `sampling` says how tokens are chosen unless the user does.
    """

    ids: str
    logits: str
    mask: str = ""
    positions: str = ""
    starts: str = ""
    totals: str = ""
    rows: str = ""
    caches: tuple[Cache, ...] = ()
    ends: tuple[int, ...] = ()
    sampling: Mapping[str, float] = field(default_factory=dict[str, float])


def set_generation(function: ir.Operation, generation: Generation) -> None:
    """Write what is what in a decoder."""
    named = {name: ir.StringAttr.get(getattr(generation, name)) for name in _PORTS}
    caches = [
        ir.ArrayAttr.get(
            [ir.StringAttr.get(each.output), ir.StringAttr.get(each.input)]
            + [to_attribute(axis, int) for axis in (each.batch_axis, each.rows_axis)]
        )
        for each in generation.caches
    ]
    fields: dict[str, ir.Attribute] = {**named, "caches": ir.ArrayAttr.get(caches)}
    if generation.ends:
        fields["ends"] = to_attribute(generation.ends, tuple[int, ...])
    if generation.sampling:
        sampling = {name: to_attribute(v, type(v)) for name, v in generation.sampling.items()}
        fields["sampling"] = ir.DictAttr.get(sampling)
    function.attributes[GENERATION] = ir.DictAttr.get(fields)


def generation_of(function: ir.Operation) -> Generation | None:
    """Return what is what in a decoder, None for any other function; raise Invalid."""
    if GENERATION not in function.attributes:
        return None
    attribute = function.attributes[GENERATION]
    try:
        fields = {named.name: named.attr for named in attribute}
        caches = tuple(map(_cache, fields.pop("caches")))
        ends = fields.pop("ends", None)
        sampling = {named.name: _number(named.attr) for named in fields.pop("sampling", ())}
        return Generation(
            **{n: from_attribute(a, str) for n, a in fields.items()},
            caches=caches,
            ends=() if ends is None else from_attribute(ends, tuple[int, ...]),
            sampling=sampling,
        )
    except (TypeError, AttributeError, KeyError, ValueError, Invalid):
        raise Invalid(
            f"attribute '{GENERATION}' is {attribute}, must name {', '.join(_PORTS)} and list "
            "caches: output, input, and two axes; tokens in 'ends' and numbers in 'sampling'"
        ) from None


def _cache(attribute: Any) -> Cache:
    output, given, batch, rows = attribute
    names = [from_attribute(each, str) for each in (output, given)]
    return Cache(*names, *(from_attribute(each, int) for each in (batch, rows)))


def _number(attribute: ir.Attribute) -> float:
    whole = isinstance(attribute, ir.IntegerAttr)
    found: float = from_attribute(attribute, int if whole else float)
    return found


def check_generation(function: ir.Operation) -> None:
    """Raise Invalid unless the ports that are named are there, and have the axes that they need."""
    found = generation_of(function)
    if found is None:
        return
    type_ = function.attributes["function_type"].value
    inputs = dict(zip(_names(function, "inputs"), type_.inputs, strict=True))
    outputs = dict(zip(_names(function, "outputs"), type_.results, strict=True))
    if found.ids not in inputs or found.logits not in outputs:
        raise Invalid(
            f"has ids '{found.ids}' and logits '{found.logits}' in '{GENERATION}', must be an "
            "input and an output"
        )
    for port, width in _WIDTHS.items():
        name = getattr(found, port)
        if not name:
            continue
        if name not in inputs or tensor_of(inputs[name]).rank != width:
            raise Invalid(
                f"has {port} '{name}' in '{GENERATION}', must be an input of rank {width}"
            )
    for each in found.caches:
        _check_cache(each, inputs, outputs)


def _check_cache(cache: Cache, inputs: dict[str, ir.Type], outputs: dict[str, ir.Type]) -> None:
    if cache.input not in inputs or cache.output not in outputs:
        raise Invalid(
            f"makes '{cache.output}' the cache '{cache.input}' in '{GENERATION}', must be an "
            "output and an input"
        )
    before, after = tensor_of(inputs[cache.input]), tensor_of(outputs[cache.output])
    axes = (cache.batch_axis, cache.rows_axis)
    lowest = (0, NO_ROWS)
    if (before.dtype, before.rank) != (after.dtype, after.rank) or not all(
        low <= axis < before.rank for low, axis in zip(lowest, axes, strict=True)
    ):
        raise Invalid(
            f"makes '{cache.output}' {after} the cache '{cache.input}' {before} with axes {axes} "
            f"in '{GENERATION}', must be of one element type and rank, with axes of these"
        )


def _names(function: ir.Operation, which: str) -> tuple[str, ...]:
    names = port_names(function, which)
    if names is None:
        raise Invalid(f"has '{GENERATION}', but no names of its {which}")
    return names
