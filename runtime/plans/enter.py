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
) -> SessionState:
    """Return the state of the stage in which `nodes` found `sizes`; see `Enter`."""
    start = stages.begun(*sizes)
    for symbol in start.symbols:
        _check_found(symbol, sizes[symbol.name], nodes)
    values = evaluate(start.evaluation, {**state.values.symbols, **sizes})
    entered = state.at(BuffersAt(stages.manifest, values), values)
    for base, space in start.arenas:
        entered.grow_stage(base, space, values.arenas.get(base, 0))
    for base in start.carried:
        entered.bases.grow_carried(base, values.arenas.get(base, 0))
    return entered


def _check_found(symbol: Symbol, value: int, nodes: tuple[str, ...]) -> None:
    high = "" if symbol.high is None else f" to {symbol.high}"
    if value < symbol.low or (symbol.high is not None and value > symbol.high):
        raise RunError(
            f"{', '.join(nodes)}: error: finds {value} for size {symbol.name}, must be from "
            f"{symbol.low}{high}"
        )
