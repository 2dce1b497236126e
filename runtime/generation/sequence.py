"""One text of a generator: its tokens, and its caches, which are made as it is read."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..slots import Slot, quote
from .decoder import Decoder
from .sampling import Sampling
from .saved_text import SavedText, read_text, write_text
from .token_ids import checked_tokens

if TYPE_CHECKING:
    from ..file.state_file import StateFile


class TextSequence:
    """Hold a text that a decoder reads and goes on with; `with` frees its caches at the end.

    `tokens` are all of its tokens. `logits` are those of the last one, [vocabulary], by which the
    next one is chosen; None where the text is empty or was truncated.
    """

    def __init__(self, decoder: Decoder, inputs: Mapping[str, Any] | None = None) -> None:
        """Begin an empty text; `inputs` are what else the decoder takes, such as a picture.

        Raises RunError for inputs that do not fit.
        """
        self._decoder = decoder
        self.inputs = _own_inputs(decoder, inputs or {})
        self._tokens: list[int] = []
        self.logits: NDArray[Any] | None = None
        self.slot = -1
        decoder.pool.take(self)
        self._closed = False

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(self._tokens)

    @property
    def length(self) -> int:
        """Return how many tokens the text has."""
        return len(self._tokens)

    def append(self, tokens: Iterable[int]) -> NDArray[Any] | None:
        """Read tokens at the end of the text, in chunks; return the `logits` of the last one.

        Raises RunError for tokens that are not of the vocabulary, and for more than there is room
        for; the text is then as it was.
        """
        self._read(tokens, every=False)
        return self.logits

    def append_each(self, tokens: Iterable[int]) -> NDArray[Any]:
        """Read tokens as `append` does; return the logits of each, [tokens, vocabulary]."""
        listed = self._read(tokens, every=True)
        return np.concatenate([np.zeros((0, self._decoder.vocabulary), np.float32), *listed])

    def _read(self, tokens: Iterable[int], every: bool) -> list[NDArray[Any]]:
        self._check_open()
        given = checked_tokens(tokens, self._decoder.vocabulary)
        self.check_room(len(given))
        listed: list[NDArray[Any]] = []
        for first in range(0, len(given), self._decoder.chunk):
            chunk = given[first : first + self._decoder.chunk]
            rows = range(len(chunk)) if every else range(len(chunk) - 1, len(chunk))
            listed.append(self._decoder.step([self], chunk[None], rows)[0])
            self.advance(chunk, listed[-1][-1])
        return listed

    def advance(self, tokens: NDArray[np.int64], logits: NDArray[Any]) -> None:
        """Note that a step has read tokens, with the logits of the last one."""
        self._tokens += tokens.tolist()
        self.logits = logits

    def check_room(self, count: int) -> None:
        """Raise RunError where so many tokens more do not fit."""
        most = self._decoder.capacity
        if most is not None and self.length + count > most:
            raise RunError(
                f"the text would have {self.length + count} tokens, the package has room for "
                f"{most}: compile the model with a larger capacity"
            )

    @property
    def room(self) -> int | None:
        """Return how many tokens more fit, None for any number."""
        most = self._decoder.capacity
        return None if most is None else most - self.length

    def truncate(self, length: int) -> None:
        """Forget all tokens from `length` on: nothing is copied or computed.

        Raises RunError for a length that the text does not have, and for a decoder of which some
        state has no rows: what it has read cannot be taken back.
        """
        self._check_open()
        if not 0 <= length <= self.length:
            raise RunError(f"the text has {self.length} tokens, it cannot be cut to {length}")
        if length == self.length:
            return
        if length and not self._decoder.keeps_rows:
            raise RunError("the decoder has state without rows: a text cannot be cut, but to 0")
        if not length and not self._decoder.keeps_rows:
            self._decoder.pool.free(self)
            self._decoder.pool.take(self)
        del self._tokens[length:]
        self.logits = None

    def fork(self, length: int | None = None) -> Self:
        """Return a text that begins as this one: all of it, or its first `length` tokens."""
        self._check_open()
        count = self.length if length is None else length
        if not 0 <= count <= self.length or (count < self.length and not self._decoder.keeps_rows):
            raise RunError(f"the text has {self.length} tokens, it cannot be forked at {count}")
        twin = type(self)(self._decoder, self.inputs)
        self._decoder.pool.copy(self.slot, twin.slot, count)
        twin._tokens = self._tokens[:count]
        twin.logits = self.logits if count == self.length else None
        return twin

    def generate(
        self, sampling: Sampling | None = None, *, max_tokens: int | None = None
    ) -> Iterator[int]:
        """Yield tokens that follow, each read before the next one is chosen, without an end.

        It ends after `max_tokens`, or where there is no more room. Raises RunError for a text of
        which the last token was not read.
        """
        count = 0
        while max_tokens is None or count < max_tokens:
            if self.room == 0:
                return
            token = self.next_token(sampling)
            self.append([token])
            yield token
            count += 1

    def next_token(self, sampling: Sampling | None = None) -> int:
        """Return the token that follows, without reading it; raises RunError as `generate`.

        It is chosen as the package says, unless `sampling` says otherwise.
        """
        self._check_open()
        if self.logits is None:
            raise RunError("the text has no logits of its last token: append a token first")
        return (sampling or self._decoder.sampling).choose(self.logits, self._tokens)

    def save(self, file: "StateFile") -> None:
        """Write tokens, rows in use and logits to a path or an open file, numpy's `.npz`."""
        self._check_open()
        write_text(file, self._decoder.pool, self.slot, SavedText(self._tokens, self.logits))

    def restore(self, file: "StateFile") -> None:
        """Go on with a text that was saved by a generator of the same model, in place of this one.

        Raises RunError for a file that does not fit; the text is then as it was.
        """
        self._check_open()
        found = read_text(file, self._decoder, self.slot)
        self._tokens, self.logits = found.tokens, found.logits

    def close(self) -> None:
        """Free the caches of the text; it cannot go on any more."""
        if not self._closed:
            self._decoder.pool.free(self)
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise RunError("the text is closed: begin another one")


def _own_inputs(decoder: Decoder, given: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Check the inputs that a text gives once; each has a batch of 1."""
    ports = {port.name: port for port in decoder.own_inputs}
    if given.keys() != ports.keys():
        needed, got = quote(ports), quote(given)
        raise RunError(f"the inputs of a text must be {needed}, got {got}")
    found = {name: Slot.of(port, 0).take(given[name]) for name, port in ports.items()}
    for name, array in found.items():
        if array.ndim == 0 or len(array) != 1:
            raise RunError(f"input '{name}' has shape {array.shape}, must have a batch of 1")
    return found
