"""Choose the next token by the logits of a decoder."""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..frozen import Frozen
from .token_ids import checked_tokens

Allowed: TypeAlias = Callable[[Sequence[int]], "Iterable[int] | NDArray[Any]"]

MOST_SEEDS = 1 << 64

_FEW = 1024
"""How many of the likeliest tokens are sorted first: most of the time they are enough."""


class Sampling(Frozen, kw_only=True):
    """Describe how the next token is chosen; each step works on what the one before it has left.

    First `repetition_penalty` divides the logits of tokens in the text that are positive, and
    multiplies those that are negative. Then logits are divided by `temperature`; with 0, the token
    of the greatest logit is chosen, of equal ones the lowest. The `top_k` likeliest tokens are kept
    (0 for all), of these the fewest likeliest whose probabilities sum up to `top_p`, and of these
    those that are at least `min_p` times as likely as the likeliest. Equally likely tokens are kept
    from the lowest one on. One of what is left is drawn.

    Before all of this, `allowed` may say which tokens may follow, as a grammar does: it is called
    with the tokens of the text, those of the prompt included, and returns tokens, or an array that
    is true for them, [vocabulary]. Another token is never chosen.

    The draw is a function of `seed` and of the place of the token in its text alone: neither other
    texts of a batch nor forks nor speculation change it.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0
    allowed: Allowed | None = None

    def __init__(self, **given: Any) -> None:
        """Raises RunError for values out of their ranges."""
        super().__init__(**given)
        _check("temperature", self.temperature, "at least 0", lambda value: value >= 0)
        _check("top_p", self.top_p, "above 0 and at most 1", lambda value: 0 < value <= 1)
        _check("min_p", self.min_p, "from 0 to 1", lambda value: 0 <= value <= 1)
        penalty = self.repetition_penalty
        _check("repetition_penalty", penalty, "above 0", lambda value: value > 0)
        _check_whole("top_k", self.top_k, 1 << 63)
        _check_whole("seed", self.seed, MOST_SEEDS)
        if self.allowed is not None and not callable(self.allowed):
            raise RunError(f"allowed is {self.allowed!r}, must be a function of tokens")

    def choose(self, logits: NDArray[Any], text: Sequence[int]) -> int:
        """Return the token that follows a text by the logits of its last token, [vocabulary].

        Raises RunError for logits that are not finite numbers, and where no token is allowed.
        """
        scores = np.array(logits, np.float64).reshape(-1)
        if self.allowed is not None:
            scores[_refused(self.allowed(tuple(text)), len(scores))] = -math.inf
        if self.repetition_penalty != 1:
            _penalize(scores, text, self.repetition_penalty)
        best = int(scores.argmax())
        if not math.isfinite(scores[best]):
            raise RunError(f"the logits have {scores[best]}, must be finite numbers")
        if self.temperature == 0:
            return best
        kept, weights = self._kept((scores - scores[best]) / self.temperature)
        sums = np.cumsum(weights)
        drawn = uniform(self.seed, len(text)) * float(sums[-1])
        place = int(np.searchsorted(sums, drawn, side="right"))
        return int(kept[min(place, len(kept) - 1)])

    def _kept(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the tokens that may be drawn, in order, and how likely each is."""
        weights = np.exp(scores)
        kept = np.arange(len(scores))
        if self.top_k and self.top_k < len(scores):
            kept = likeliest(weights, self.top_k)
        if self.top_p < 1:
            kept = _nucleus(weights, kept, self.top_p * float(weights[kept].sum()))
        if self.min_p:
            kept = kept[weights[kept] >= self.min_p * weights[kept].max()]
        kept = np.sort(kept[weights[kept] > 0])
        return kept, weights[kept]


def _refused(allowed: Any, words: int) -> NDArray[np.bool_]:
    """Return where no token may be chosen, by the tokens that may, or by the array of these."""
    given: NDArray[Any] = np.asarray(allowed if hasattr(allowed, "dtype") else list(allowed))
    if given.dtype == np.bool_ and given.size:
        if given.shape != (words,):
            raise RunError(f"allowed returned booleans of shape {given.shape}, must be ({words},)")
        refused = ~given
    else:
        refused = np.ones(words, bool)
        refused[checked_tokens(given, words)] = False
    if refused.all():
        raise RunError("allowed returned no token, must allow one at least: that of an end, say")
    return refused


def uniform(seed: int, place: int) -> float:
    """Return a number from 0 to 1, without 1, that is a function of seed and place."""
    bits = np.random.Philox(key=seed, counter=place)
    return float(np.random.Generator(bits).random())


def likeliest(weights: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the places of the largest weights, the largest first, equal ones as they stand."""
    count = min(count, len(weights))
    least = np.partition(weights, len(weights) - count)[len(weights) - count]
    above = np.flatnonzero(weights > least)
    equal = np.flatnonzero(weights == least)[: count - len(above)]
    found = np.concatenate([above, equal])
    return found[np.argsort(-weights[found], kind="stable")]


def _nucleus(weights: NDArray[np.float64], kept: NDArray[np.intp], mass: float) -> NDArray[np.intp]:
    """Return the fewest likeliest of some tokens whose weights sum up to a mass."""
    ordered = np.sort(kept)
    for count in (_FEW, len(ordered)):
        order = ordered[likeliest(weights[ordered], count)]
        sums = np.cumsum(weights[order])
        if sums[-1] >= mass or len(order) == len(ordered):
            break
    return order[: int(np.searchsorted(sums, mass)) + 1]


def _penalize(scores: NDArray[np.float64], text: Sequence[int], penalty: float) -> None:
    seen = np.unique(np.asarray(text, np.int64))
    found = scores[seen]
    scores[seen] = np.where(found > 0, found / penalty, found * penalty)


def _check(name: str, value: object, range: str, fits: Callable[[float], bool]) -> None:
    number = math.nan
    if isinstance(value, float | int | np.number) and not isinstance(value, bool):
        number = float(value)  # pyright: ignore[reportUnknownArgumentType]
    if not fits(number) or math.isinf(number):
        raise RunError(f"{name} is {value!r}, must be a number {range}")


def _check_whole(name: str, value: object, end: int) -> None:
    try:
        number = operator.index(cast("SupportsIndex", value))
    except TypeError:
        number = -1
    if isinstance(value, bool) or not 0 <= number < end:
        raise RunError(f"{name} is {value!r}, must be a whole number from 0 to {end - 1}")


GREEDY = Sampling()
"""Always the likeliest token."""
