"""Run the step of a decoder: the one place that knows the ports of its package."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contents import Port
from ..dtypes import resolve
from ..errors import RunError
from ..session import Session
from .cache_pool import CachePool, CacheSlots, Owner
from .part import NO_ROWS, PORT_RANKS, CachePort, GenerationPart

Logits = NDArray[Any]


class Text(Owner):
    """A text in a pool: how many of its tokens have been read, and the inputs that are its own."""

    inputs: Mapping[str, NDArray[Any]]


class Decoder:
    """Run steps of a session for texts whose caches are in a pool.

    `capacity` is the most tokens of a text, None for any number. A step takes at most `chunk`
    tokens of each of at most `batch` texts.
    """

    def __init__(self, session: Session) -> None:
        """Raise RunError for a package that was not compiled to generate."""
        part = session.manifest.part(GenerationPart)
        if not part.ids:
            raise RunError(
                "the package is no decoder: compile the model with generate={'capacity': 4096}"
            )
        self.session = session
        self.ends, self.sampling = part.ends, part.chosen_by()
        self._part = part
        self._inputs = {port.name: port for port in session.manifest.inputs}
        self._most = {s.name: s.high for s in session.manifest.symbols}
        ids, logits = self._inputs[part.ids], _named(session.manifest.outputs, part.logits)
        self.batch, self.chunk = (self._limit(size) or 1 for size in ids.shape)
        self.vocabulary = int(logits.shape[-1])
        self._grows = [self._is_growing(each) for each in part.caches]
        self.pool = CachePool([self._slots(each) for each in part.caches])
        self.capacity = self._capacity()
        self.keeps_rows = all(each.has_rows for each in self.pool.caches)
        if any(self._grows):
            self.batch = 1  # texts of several lengths have caches of several sizes
        self._updated = session.manifest.updated
        self._unbind()
        known = {getattr(part, kind) for kind in PORT_RANKS}
        known |= {c.input for c in part.caches}
        self.own_inputs = tuple(p for name, p in self._inputs.items() if name not in known)

    def step(
        self, texts: Sequence[Any], tokens: NDArray[np.int64], rows: Sequence[int]
    ) -> dict[int, Logits]:
        """Read tokens, [texts, count], that follow each text; return logits by the number of text.

        `rows` are the tokens, by number, of which logits are wanted: [rows, vocabulary]. The caller
        counts the tokens: a text has its length of before the step.
        """
        number = {id(text): i for i, text in enumerate(texts)}
        ordered: list[Any] = list(self.pool.neighbours(texts))
        order = [number[id(text)] for text in ordered]
        first, count = ordered[0].slot, len(ordered)
        lengths = np.array([text.length for text in ordered])
        feeds = self._feeds(tokens[order], lengths, rows)
        for port in self.own_inputs:
            feeds[port.name] = np.concatenate([text.inputs[port.name] for text in ordered])
        for i, cache in enumerate(self.pool.caches):
            array = self.pool.arrays(i, first, count)
            if self._grows[i]:
                array = array[(slice(None),) * cache.rows_axis + (slice(int(lengths[0])),)]
            feeds[cache.input] = array
        results = self.session.run(feeds)
        self._keep(feeds, results, ordered, tokens.shape[1])
        logits = results[self._part.logits]
        if not self._part.rows:
            logits = logits[:, list(rows)]
        return dict(zip(order, logits, strict=True))

    def _feeds(
        self, tokens: NDArray[np.int64], lengths: NDArray[np.int64], rows: Sequence[int]
    ) -> dict[str, Any]:
        part, after = self._part, lengths + tokens.shape[1]
        feeds: dict[str, Any] = {part.ids: self._typed(part.ids, tokens)}
        if part.mask:
            mask = np.arange(int(after.max())) < after[:, None]
            feeds[part.mask] = self._typed(part.mask, mask)
        if part.positions:
            places = lengths[:, None] + np.arange(tokens.shape[1], dtype=np.int64)
            feeds[part.positions] = self._typed(part.positions, places)
        for port, counts in ((part.starts, lengths), (part.totals, after)):
            if port:
                feeds[port] = self._typed(port, counts)
        if part.rows:
            feeds[part.rows] = self._typed(part.rows, np.array(rows))
        return feeds

    def _typed(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        return array.astype(resolve(self._inputs[name].dtype))

    def _keep(
        self, feeds: Mapping[str, Any], results: Mapping[str, Any], texts: Sequence[Any], count: int
    ) -> None:
        """Write what a step has made of caches to the pool, but for what it wrote there itself."""
        for number, cache in enumerate(self.pool.caches):
            if cache.output in self._updated:
                if cache.batch_axis == 0:
                    continue
                made = feeds[cache.input]  # copies of what is in the pool
            else:
                made = results[cache.output]
            for entry, text in enumerate(texts):
                place = (slice(None),) * cache.batch_axis + (slice(entry, entry + 1),)
                target = self.pool.value(number, text.slot, text.length + count)
                if cache.has_rows:
                    new = (slice(None),) * cache.rows_axis
                    new += (slice(text.length, text.length + count),)
                    target[new] = made[place][new]
                else:
                    target[...] = made[place]

    def _unbind(self) -> None:
        """Let no cache be state of the session: each step is given those of its texts."""
        bound = {each.output: each.input for each in self.session.manifest.carried if each.is_bound}
        others = {o: i for o, i in bound.items() if all(o != c.output for c in self.pool.caches)}
        if others != bound:
            self.session.unbind_state()
            if others:
                self.session.bind_state(others)

    def _slots(self, port: CachePort) -> CacheSlots:
        given = self._inputs[port.input]
        shape = [self._limit(size) or 0 for size in given.shape]
        shape[port.batch_axis] = 1
        if self._is_growing(port):
            shape[port.rows_axis] += 1  # what a step takes, and at least the row that it makes
        return CacheSlots(
            port.output,
            port.input,
            port.batch_axis,
            port.rows_axis,
            tuple(shape),
            resolve(given.dtype),
        )

    def _is_growing(self, port: CachePort) -> bool:
        has_rows = port.rows_axis != NO_ROWS
        return has_rows and type(self._inputs[port.input].shape[port.rows_axis]) is not int

    def _limit(self, size: object) -> int | None:
        """Return a size, or the most that a symbol may be."""
        return size if isinstance(size, int) else self._most.get(str(size))

    def _capacity(self) -> int | None:
        sizes = [each.shape[each.rows_axis] for each in self.pool.caches if each.has_rows]
        if self._part.mask and (most := self._limit(self._inputs[self._part.mask].shape[1])):
            sizes.append(most)
        return min(sizes, default=None)


def _named(ports: Sequence[Port], name: str) -> Port:
    return next(port for port in ports if port.name == name)
