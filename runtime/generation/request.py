"""What is asked of one text: how it goes on, and where it ends."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import RunError
from .sampling import Sampling
from .sequence import TextSequence
from .text import TextStream, Tokenizer


class Stops:
    """Know the tokens and the strings that end a text."""

    def __init__(self, stop: Any, tokenizer: Tokenizer | None, ends: Iterable[int] = ()) -> None:
        """`stop` is a token or a string, or several; strings need the tokenizer.

        `ends` are tokens that end any text.
        """
        listed: list[Any] = [stop] if isinstance(stop, int | str) else list(stop)
        self.strings = tuple(each for each in listed if isinstance(each, str) and each)
        self.tokens = frozenset((*ends, *(each for each in listed if not isinstance(each, str))))
        self.tokenizer = tokenizer
        if self.strings and tokenizer is None:
            raise RunError("a string ends the text, which needs a tokenizer: give one, or tokens")

    def stream(self) -> TextStream | None:
        """Return what looks for the strings in a text, if there are any."""
        if not self.strings or self.tokenizer is None:
            return None
        return TextStream(self.tokenizer, self.strings)


class Request:
    """Go on with a text token by token; `made` are the tokens that were chosen.

    The last of these was not read yet, as long as the request is not `finished`.
    """

    def __init__(
        self, text: TextSequence, sampling: Sampling, most: int | None, stops: Stops
    ) -> None:
        self.text = text
        self.sampling = sampling
        self.made: list[int] = []
        self.finished = most == 0
        self._most = most
        self._stops = stops
        self._stream = stops.stream()

    @property
    def left(self) -> int | None:
        """Return how many tokens more may be made; None for any number."""
        return None if self._most is None else self._most - len(self.made)

    def choose(self) -> bool:
        """Choose the next token by the logits of the text; return whether one was made."""
        if self.finished:
            return False
        return self.add(self.text.next_token(self.sampling))

    def add(self, token: int) -> bool:
        """Take a token as the next one; return whether it is of the text: others end it."""
        if token in self._stops.tokens:
            self.finished = True
            return False
        self.made.append(token)
        if self._stream is not None:
            self._stream.add(token)
            self.finished = self._stream.stopped
        self.finished |= self.left == 0 or self.text.room == 0
        return True

    def read(self, guesses: Sequence[int]) -> Iterable[int]:
        """Read the last token and guesses of what follows; yield the tokens that are chosen then.

        Guesses are read as far as they are the tokens that are chosen, the rest is forgotten.
        """
        text = self.text
        if not guesses:
            text.append(self.made[-1:])
            if self.choose():
                yield self.made[-1]
            return
        first = text.length + 1
        logits = text.append_each([self.made[-1], *guesses])
        known = list(text.tokens[:first])
        right, chosen = 0, self.sampling.choose(logits[0], known)
        while right < len(guesses) and chosen == guesses[right]:
            known.append(chosen)
            right += 1
            chosen = self.sampling.choose(logits[right], known)
        text.truncate(first + right)
        text.logits = logits[right]
        for token in [*guesses[:right], chosen]:
            if not self.finished and self.add(token):
                yield token
