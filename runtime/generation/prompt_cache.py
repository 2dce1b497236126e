"""Keep texts that have ended: a prompt that begins as one of them is read from there on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decoder import Decoder
from .sequence import TextSequence
from .speculation import common_prefix


class PromptCache:
    """Hold up to `most` texts, and drop the one that was used least recently."""

    def __init__(self, decoder: Decoder, most: int) -> None:
        self._decoder = decoder
        self._most = most if decoder.keeps_rows and not decoder.own_inputs else 0
        self._kept: list[TextSequence] = []

    def begin(self, prompt: NDArray[np.int64], inputs: Mapping[str, Any]) -> TextSequence:
        """Return a text that has read a prompt, by the longest part that a kept text begins with.

        Raises RunError for a prompt that there is no room for, and for inputs that do not fit.
        """
        text = self._longest(prompt.tolist()) or TextSequence(self._decoder, inputs)
        try:
            text.append(prompt[text.length :])
        except BaseException:
            text.close()
            raise
        return text

    def _longest(self, prompt: list[int]) -> TextSequence | None:
        """Return a text that has read as much of a prompt as a kept one, but for its last token.

        It is the kept one where the prompt goes on with it, or where there is no room for another.
        """
        shared = [(common_prefix(each.tokens, prompt[:-1]), each) for each in self._kept]
        length, found = max(shared, key=lambda pair: pair[0], default=(0, None))
        if found is None or not length:
            return None
        self._kept.remove(found)
        if length < found.length and len(self._kept) + 1 < self._most:
            self._kept.append(found)
            return found.fork(length)
        found.truncate(length)
        return found

    def keep(self, text: TextSequence) -> None:
        """Keep a text that has ended, or close it."""
        self._kept.append(text)
        while len(self._kept) > self._most:
            self._kept.pop(0).close()

    def clear(self) -> None:
        """Close all texts."""
        while self._kept:
            self._kept.pop().close()
