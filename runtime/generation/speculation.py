"""Guess the tokens that follow, so that one step checks several: by the text, or by a small model.

A guess is right where it is the very token that the generator chooses at that place. So texts are
the same with and without guesses: only how many steps they take differs.
"""

from collections.abc import Sequence
from typing import Protocol

from .decoder import Decoder
from .sampling import Sampling
from .sequence import TextSequence


class Guesser(Protocol):
    """Guesses tokens that follow a text."""

    def guess(self, tokens: Sequence[int], sampling: Sampling, count: int) -> list[int]:
        """Return up to `count` tokens that may follow."""
        ...

    def close(self) -> None:
        """Free what the guesser has."""
        ...


class PromptLookup:
    """Guess what followed where the last tokens of a text stood in it before.

    Source: Saxena, Prompt Lookup Decoding, 2023.
    """

    def __init__(self, longest: int = 3) -> None:
        self._longest = longest

    def guess(self, tokens: Sequence[int], sampling: Sampling, count: int) -> list[int]:
        listed = list(tokens)
        for size in range(min(self._longest, len(listed) - 1), 0, -1):
            ending = listed[-size:]
            for start in range(len(listed) - size - 1, -1, -1):
                if listed[start : start + size] == ending:
                    return listed[start + size : start + size + count]
        return []

    def close(self) -> None:
        pass


class Draft:
    """Guess with a decoder that is smaller, and has the same vocabulary.

    It chooses as the generator does, by the same draws: the more alike the models, the more guesses
    are right.
    """

    def __init__(self, decoder: Decoder) -> None:
        self._text = TextSequence(decoder)

    def guess(self, tokens: Sequence[int], sampling: Sampling, count: int) -> list[int]:
        text, listed = self._text, list(tokens)
        text.truncate(min(common_prefix(text.tokens, listed), len(listed) - 1))
        if text.room is not None and text.length + text.room < len(listed) + count:
            return []
        text.append(listed[text.length :])
        return list(text.generate(sampling, max_tokens=count))

    def close(self) -> None:
        self._text.close()


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
