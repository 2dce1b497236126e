"""How the next token is chosen, against plain counts and probabilities."""

from typing import Any

import numpy as np
import pytest
from trivium import RunError, Sampling

LOGITS = np.log(np.array([0.1, 0.4, 0.05, 0.25, 0.2], np.float32))


def drawn(sampling: dict[str, Any], logits: Any = LOGITS, count: int = 4000) -> Any:
    """Return how often each token is chosen at the places of a long text."""
    made = Sampling(**{"temperature": 1.0, **sampling})
    tokens = [made.choose(logits, [0] * place) for place in range(count)]
    return np.bincount(tokens, minlength=len(logits)) / count


def test_the_likeliest_token_is_chosen_the_lowest_of_equal_ones() -> None:
    assert Sampling().choose(LOGITS, [1]) == 1
    assert Sampling().choose(np.array([0.5, 2, 2, -1], np.float32), []) == 1


@pytest.mark.parametrize(
    ("sampling", "wanted"),
    [
        ({}, [0.1, 0.4, 0.05, 0.25, 0.2]),
        ({"temperature": 0.5}, [0.01, 0.16, 0.0025, 0.0625, 0.04]),
        ({"top_k": 2}, [0, 0.4, 0, 0.25, 0]),
        ({"top_p": 0.6}, [0, 0.4, 0, 0.25, 0]),
        ({"top_p": 0.66}, [0, 0.4, 0, 0.25, 0.2]),
        ({"min_p": 0.4}, [0, 0.4, 0, 0.25, 0.2]),
        ({"top_k": 3, "top_p": 0.7}, [0, 0.4, 0, 0.25, 0]),
        ({"top_p": 0.86, "min_p": 0.6}, [0, 0.4, 0, 0.25, 0]),
        ({"top_k": 1}, [0, 1, 0, 0, 0]),
    ],
)
def test_tokens_are_as_frequent_as_they_are_likely(
    sampling: dict[str, Any], wanted: list[float]
) -> None:
    got = drawn(sampling)
    np.testing.assert_allclose(got, np.array(wanted) / sum(wanted), atol=0.03)
    assert not got[np.array(wanted) == 0].any()


def test_equally_likely_tokens_are_kept_from_the_lowest_one_on() -> None:
    assert np.flatnonzero(drawn({"top_k": 3}, np.zeros(6, np.float32), 200)).tolist() == [0, 1, 2]
    assert np.flatnonzero(drawn({"top_p": 0.5}, np.zeros(6, np.float32), 200)).tolist() == [0, 1, 2]


def test_a_nucleus_may_have_most_of_a_large_vocabulary() -> None:
    logits = np.zeros(5000, np.float32)
    logits[-1] = 1e-3
    tokens = {Sampling(temperature=1, top_p=0.5, seed=s).choose(logits, []) for s in range(300)}
    assert max(tokens - {4999}) < 2500
    assert len(tokens) > 250


def test_tokens_of_the_text_become_less_likely() -> None:
    logits = np.array([2.0, 1.5, -1.0, -1.5], np.float32)
    assert Sampling(repetition_penalty=2).choose(logits, [0, 3]) == 1
    weights = np.exp([1.0, 1.5, -1.0, -3.0])
    tokens = [
        Sampling(temperature=1, repetition_penalty=2, seed=s).choose(logits, [0, 3])
        for s in range(4000)
    ]
    found = np.bincount(tokens, minlength=4) / 4000
    np.testing.assert_allclose(found, weights / weights.sum(), atol=0.03)


def test_a_draw_depends_on_seed_and_place_alone() -> None:
    flat = np.zeros(1000, np.float32)
    one = Sampling(temperature=1, seed=1)
    chosen = one.choose(flat, [5, 6])
    assert (
        chosen == one.choose(flat, [7, 8]) == Sampling(temperature=1, seed=1).choose(flat, [0, 0])
    )
    others = {Sampling(temperature=1, seed=s).choose(flat, [5, 6]) for s in range(20)}
    others |= {one.choose(flat, [0] * place) for place in range(20)}
    assert len(others) > 30


def test_logits_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(RunError, match="the logits have nan, must be finite numbers"):
        Sampling().choose(np.array([0, np.nan], np.float32), [])


def test_only_allowed_tokens_are_chosen() -> None:
    texts: list[tuple[int, ...]] = []

    def allowed(text: Any) -> Any:
        texts.append(tuple(text))
        return [0, 2, 4] if text else np.array([False, False, True, False, False])

    assert Sampling(allowed=allowed).choose(LOGITS, [7, 8]) == 4
    assert Sampling(allowed=allowed).choose(LOGITS, []) == 2
    assert texts == [(7, 8), ()]
    got = drawn({"allowed": lambda text: [0, 2, 4]}, count=3000)
    np.testing.assert_allclose(got, np.array([2, 0, 1, 0, 4]) / 7, atol=0.03)
    assert got[[1, 3]].tolist() == [0, 0]
    assert set(np.flatnonzero(drawn({"allowed": lambda text: [2], "top_k": 4}))) == {2}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "allowed returned no token, must allow one at least: that of an end, say"),
        (np.zeros(5, bool), "allowed returned no token, must allow one at least: that of an end"),
        (np.ones(4, bool), "allowed returned booleans of shape (4,), must be (5,)"),
        ([5], "token 0 is 5, must be from 0 to 4: the vocabulary has 5 tokens"),
        ([0.5], "tokens must be whole numbers, one after the other"),
    ],
)
def test_what_allows_no_token_is_refused(answer: Any, message: str) -> None:
    with pytest.raises(RunError) as caught:
        Sampling(allowed=lambda text: answer).choose(LOGITS, [])
    assert str(caught.value).startswith(message)
    with pytest.raises(RunError, match="allowed is 'a', must be a function of tokens"):
        Sampling(allowed="a")
