"""Write a text with its caches to a file, and read it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..file.state_file import read_state, write_state
from ..frozen import Frozen
from ..slots import Slot
from .cache_pool import CachePool
from .decoder import Decoder
from .token_ids import checked_tokens

if TYPE_CHECKING:
    from ..file.state_file import StateFile

_TOKENS, _LOGITS = "tokens", "logits"


class SavedText(Frozen):
    """Hold the tokens of a text, and the logits of the last one, if any."""

    tokens: list[int]
    logits: NDArray[Any] | None


def write_text(file: "StateFile", pool: CachePool, slot: int, text: SavedText) -> None:
    """Write a text and the rows in use of its slot; raise RunError where that fails."""
    logits = np.zeros(0, np.float32) if text.logits is None else text.logits
    values = {_TOKENS: np.array(text.tokens, np.int64), _LOGITS: logits}
    values |= _caches(pool, slot, len(text.tokens))
    write_state(file, [Slot(n, 0, a.shape, a.dtype) for n, a in values.items()], values)


def read_text(file: "StateFile", decoder: Decoder, slot: int) -> SavedText:
    """Read a text, and its rows to a slot; raise RunError for a file that does not fit."""
    pool = decoder.pool
    wanted = [_slot(_TOKENS, ("tokens",), np.dtype(np.int64))]
    wanted.append(_slot(_LOGITS, ("words",), np.dtype(np.float32)))
    for cache in pool.caches:
        sizes = (("rows" if a == cache.rows_axis else s) for a, s in enumerate(cache.shape))
        wanted.append(_slot(cache.input, tuple(sizes), cache.dtype))
    values = read_state(file, wanted)
    tokens = checked_tokens(values[_TOKENS].tolist(), decoder.vocabulary)
    if decoder.capacity is not None and len(tokens) > decoder.capacity:
        raise RunError(
            f"the file has {len(tokens)} tokens, the package has room for {decoder.capacity}"
        )
    logits = values[_LOGITS]
    if len(logits) not in (0, decoder.vocabulary):
        raise RunError(f"the file has {len(logits)} logits, must have {decoder.vocabulary}")
    targets = _caches(pool, slot, len(tokens))
    for name, target in targets.items():
        if values[name].shape != target.shape:
            found = values[name].shape
            raise RunError(f"the file has '{name}' of shape {found}, must be {target.shape}")
    for name, target in targets.items():
        target[...] = values[name]
    return SavedText(tokens.tolist(), logits if len(logits) else None)


def _caches(pool: CachePool, slot: int, length: int) -> Mapping[str, NDArray[Any]]:
    """Return views of what a text of a length has in its slot."""
    return {each.input: pool.value(i, slot, length) for i, each in enumerate(pool.caches)}


def _slot(name: str, shape: tuple[Any, ...], dtype: np.dtype[Any]) -> Slot:
    """Return what a value of the file must be; sizes that are names may be any."""
    return Slot(name, 0, shape, dtype)
