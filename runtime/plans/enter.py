"""Begin a stage of a run: sizes that were just found give its numbers and its memory."""

from collections.abc import Mapping

from ..contents import Symbol
from ..errors import RunError
from ..sizes.stages import Stages
from ..sizes.symbols import evaluate
from ..state import SessionState
from .buffers import BuffersAt


def enter(
    stages: Stages,
    state: SessionState,
    sizes: Mapping[str, int],
    nodes: tuple[str, ...],
    slot: int = 0,
) -> SessionState:
    """Return the state of the stage in which `nodes` found `sizes`; see `Enter`."""
    manifest = stages.manifest
    number = stages.of(*sizes)
    for symbol in manifest.symbols:
        if symbol.stage == number:
            _check_found(symbol, sizes[symbol.name], nodes)
    values = evaluate(stages.at(number).evaluation, {**state.values.symbols, **sizes})
    entered = state.at(BuffersAt(manifest.buffers, values), values)
    for base in manifest.arenas_in(number):
        size = values.arenas.get(base, 0)
        entered.grow_stage(base, manifest.space_of(base), size, slot)
    return entered


def _check_found(symbol: Symbol, value: int, nodes: tuple[str, ...]) -> None:
    high = "" if symbol.high is None else f" to {symbol.high}"
    if value < symbol.low or (symbol.high is not None and value > symbol.high):
        raise RunError(
            f"{', '.join(nodes)}: error: finds {value} for size {symbol.name}, must be from "
            f"{symbol.low}{high}"
        )
