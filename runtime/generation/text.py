"""Text of tokens as they come, and the strings that end it."""

from collections.abc import Sequence
from typing import Any, Protocol

from ..errors import RunError

_UNFINISHED = "\ufffd"
"""What a tokenizer writes for bytes that are no whole character yet."""


class Tokenizer(Protocol):
    """What is used of a tokenizer, such as `tokenizers.Tokenizer`."""

    def encode(self, sequence: str, /) -> Any: ...

    def decode(self, ids: Sequence[int], /) -> str: ...

    def get_vocab_size(self) -> int: ...


def check_tokenizer(tokenizer: Tokenizer, vocabulary: int) -> None:
    """Raise RunError for a tokenizer that has tokens which the model does not have."""
    size = tokenizer.get_vocab_size()
    if size > vocabulary:
        raise RunError(
            f"the tokenizer has {size} tokens, the model has {vocabulary}: it is that of another "
            "model"
        )


class TextStream:
    """Turn tokens into text piece by piece, up to the first of some strings.

    A piece is held back as long as its end may become another character, or one of the strings.
    """

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str] = ()) -> None:
        self._tokenizer = tokenizer
        self._stop = tuple(stop)
        self._tokens: list[int] = []
        self._begun, self._decoded = 0, 0  # tokens from where on text is decoded, and is known
        self._held = ""
        self.stopped = False

    def add(self, token: int) -> str:
        """Return the text that a token makes certain; nothing where the text has stopped."""
        if self.stopped:
            return ""
        self._tokens.append(token)
        known = self._tokenizer.decode(self._tokens[self._begun : self._decoded])
        whole = self._tokenizer.decode(self._tokens[self._begun :])
        if whole.endswith(_UNFINISHED):
            return ""
        self._begun, self._decoded = self._decoded, len(self._tokens)
        return self._certain(self._held + whole[len(known) :])

    def finish(self) -> str:
        """Return what was held back: nothing comes after it."""
        if self.stopped:
            return ""
        known = self._tokenizer.decode(self._tokens[self._begun : self._decoded])
        rest = self._held + self._tokenizer.decode(self._tokens[self._begun :])[len(known) :]
        self._held, self._begun = "", len(self._tokens)
        self._decoded = self._begun
        return rest

    def _certain(self, text: str) -> str:
        places = [place for each in self._stop if (place := text.find(each)) >= 0]
        if places:
            self.stopped, self._held = True, ""
            return text[: min(places)]
        held = max((_overlap(text, each) for each in self._stop), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]


def _overlap(text: str, stop: str) -> int:
    """Return how many characters at the end of a text are the beginning of a string."""
    most = min(len(text), len(stop) - 1)
    return next((n for n in range(most, 0, -1) if text.endswith(stop[:n])), 0)
