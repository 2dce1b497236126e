"""Run a package on batches of rows: the callable class that `Dataset.map_batches` takes."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime import load
from ...runtime.contents import Port, Symbol
from ...runtime.errors import RunError
from ...runtime.file.signature import Keys
from ...runtime.sizes.size_expressions import Size
from ...runtime.spelling import spell_shape

Batch = Mapping[str, NDArray[Any]]


class Predictor:
    """Add the outputs of a package to batches of rows, as columns.

    Each actor of Ray Data makes one, which has one session:

        dataset.map_batches(
            trivium.ray.Predictor, fn_constructor_args=("model.trv",), batch_size=256,
            compute=ray.data.ActorPoolStrategy(size=2),
        )

    The first axis of all inputs and outputs is that of rows. Where its size is a number, batches
    are cut to it and the last piece is padded with copies of its last row; where it is a symbol, a
    batch is run as it is, cut and padded only as the range of the symbol asks for.
    """

    def __init__(
        self,
        model: "str | os.PathLike[str] | bytes | NDArray[np.uint8]",
        *,
        columns: Mapping[str, str] | None = None,
        outputs: Mapping[str, str] | None = None,
        threads: int | None = 1,
        device: int = 0,
        key: Keys | None = None,
    ) -> None:
        """Load the package at the path `model`, which must be on each node, or of these bytes.

        A file is mapped, so that actors of one node share its weights; so are the bytes of an array
        that `ray.put` has stored. `columns` maps inputs to columns, where names differ, and
        `outputs` maps outputs to new columns: only these are added then. `threads`, `device` and
        `key` are those of `trivium.load`. Raises PackageError for a file that is refused, RunError
        for a package whose rows are not independent of one another.
        """
        source = model.data if isinstance(model, np.ndarray) else model
        self._session = load(source, threads=threads, device=device, key=key)
        if self._session.state or self._session.manifest.carried:
            raise RunError("the package has state, which batches in any order would mix")
        inputs, made = self._session.inputs, self._session.outputs
        self._columns = _renamed("columns", columns, inputs, is_partial=False)
        self._outputs = _renamed("outputs", outputs, made, is_partial=True)
        self._size = size = _rows(inputs, made)
        self._symbol = self._session.symbols.get(str(size))
        if self._symbol is None and type(size) is not int:
            raise RunError(f"inputs have {size} rows, must have a number or a symbol of their own")

    def __call__(self, batch: Batch) -> dict[str, NDArray[Any]]:
        """Return a batch with the outputs as further columns, one row for each row.

        Raises RunError for a column that is missing, of another type or shape, or there already.
        """
        columns = self._arrays(batch)
        rows = len(next(iter(columns.values())))
        pieces: list[dict[str, NDArray[Any]]] = []
        for start, count, size in self._pieces(rows):
            feeds = {n: _padded(array[start : start + count], size) for n, array in columns.items()}
            made = self._session.run(feeds)
            pieces.append({column: made[name][:count] for name, column in self._outputs.items()})
        first, *others = pieces
        added = {c: np.concatenate([p[c] for p in pieces]) if others else first[c] for c in first}
        return {**batch, **added}

    def _arrays(self, batch: Batch) -> dict[str, NDArray[Any]]:
        have = ", ".join(f"'{name}'" for name in batch) or "none"
        for name, column in self._columns.items():
            if column not in batch:
                raise RunError(f"there is no column '{column}' for input '{name}', but {have}")
        for column in self._outputs.values():
            if column in batch:
                raise RunError(
                    f"there is a column '{column}' already: give outputs another name for it"
                )
        return {port.name: self._array(port, batch) for port in self._session.inputs}

    def _array(self, port: Port, batch: Batch) -> NDArray[Any]:
        column = self._columns[port.name]
        array = np.asarray(batch[column])
        have, must = array.shape[1:], port.shape[1:]
        pairs = zip(have, must, strict=False)
        if len(have) != len(must) or any(type(n) is int and size != n for size, n in pairs):
            kind = f"has rows of shape {spell_shape(have)}" if array.ndim else "is a scalar"
            raise RunError(f"column '{column}' {kind}, must be {spell_shape(must)}")
        return array

    def _pieces(self, rows: int) -> list[tuple[int, int, int]]:
        """Return where each piece of so many rows starts, its rows, and how many are run for it."""
        low, high, step = _range(self._size, self._symbol)
        most = rows if high is None else high // step * step
        starts = range(0, rows, most) if rows else (0,)
        pieces = [(start, min(most, rows - start)) for start in starts]
        return [(start, n, max(low, -(-n // step) * step)) for start, n in pieces]


def _range(size: Size, symbol: Symbol | None) -> tuple[int, int | None, int]:
    """Return the least and the largest number of rows of a run, and what they are a multiple of."""
    if symbol is None:
        return int(size), int(size), 1
    low = -(-max(symbol.low, 1) // symbol.step) * symbol.step
    return low, symbol.high, symbol.step


def _padded(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Append copies of the last row; of no rows, zeros."""
    if (lacking := size - len(array)) <= 0:
        return array
    last = array[-1:] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)
    return np.concatenate([array, np.repeat(last, lacking, axis=0)])


def _rows(inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Size:
    """Return the size of the first axis, which all inputs and outputs must share."""
    if not inputs:
        raise RunError("the package has no inputs, so there is nothing to run on rows")
    size = inputs[0].shape[0] if inputs[0].shape else None
    for kind, ports in (("input", inputs), ("output", outputs)):
        for port in ports:
            if size is None or not port.shape or port.shape[0] != size:
                must = "an axis of rows" if size is None else f"{size} rows, as the first input"
                have = spell_shape(port.shape)
                raise RunError(f"{kind} '{port.name}' has shape {have}, must begin with {must}")
    return size or 0


def _renamed(
    label: str, given: Mapping[str, str] | None, ports: tuple[Port, ...], is_partial: bool
) -> dict[str, str]:
    """Return the columns of ports by their names; RunError for names that no port has."""
    names = [port.name for port in ports]
    if unknown := sorted({*(given or {})} - {*names}):
        known = ", ".join(f"'{name}'" for name in names)
        raise RunError(f"{label} has '{unknown[0]}', must be of {known}")
    if given and is_partial:
        names = list(given)
    found = {name: (given or {}).get(name, name) for name in names}
    if len({*found.values()}) < len(found) and is_partial:
        raise RunError(f"{label} gives one name to several columns: {', '.join(found.values())}")
    return found
