"""`Generator`: tokens in, tokens out, by the package of a decoder."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..package import Package
from ..session import Session
from .decoder import Decoder
from .prompt_cache import PromptCache
from .request import Request, Stops
from .sampling import Sampling
from .sequence import TextSequence
from .speculation import Draft, Guesser, PromptLookup
from .text import TextStream, Tokenizer, check_tokenizer
from .token_ids import checked_tokens

Source: TypeAlias = Session | Package | str | os.PathLike[str]
Prompt: TypeAlias = Iterable[int] | str
Callback: TypeAlias = Callable[[int], object]

_NONE: Mapping[str, Any] = MappingProxyType({})
GUESSES = 3
"""How many tokens are guessed at once unless the user says otherwise."""


class Generator:
    """Make tokens by a package that was compiled with `generate`.

    Texts are read in chunks. A prompt that begins as an earlier text goes on from there: up to
    `keep` texts are kept. One thread at a time may use a generator and its texts.
    """

    def __init__(
        self,
        source: Source,
        *,
        tokenizer: Tokenizer | None = None,
        draft: "Generator | Session | Package | str | os.PathLike[str] | None" = None,
        lookup: bool = False,
        guesses: int = GUESSES,
        keep: int = 4,
        ends: Iterable[int] | None = None,
        threads: int | None = None,
    ) -> None:
        """Make a package, open or by its path, or a session of one, ready to generate.

        A `tokenizer` is needed for prompts and stops that are text. With a `draft`, the package of
        a smaller decoder of the same vocabulary, or with `lookup`, in the text itself, up to
        `guesses` tokens are guessed and then checked at once: the texts are the same, in fewer
        steps where guesses are right. `ends` are tokens that end each text, by default those that
        the package names. Raises RunError for a package that is no decoder, and for a tokenizer, a
        draft or tokens that do not fit.
        """
        self._decoder = Decoder(_session(source, threads))
        self._tokenizer = tokenizer
        if tokenizer is not None:
            check_tokenizer(tokenizer, self.vocabulary)
        if draft is not None and lookup:
            raise RunError("draft and lookup both guess tokens: give one of them")
        self._draft = None if draft is None else _draft_decoder(draft, threads, self.vocabulary)
        self._lookup = lookup
        self._guesses = min(guesses, self._decoder.chunk - 1) if self._decoder.keeps_rows else 0
        self._kept = PromptCache(self._decoder, keep)
        given = self._decoder.ends if ends is None else ends
        self._ends = tuple(checked_tokens(given, self.vocabulary).tolist())

    @property
    def vocabulary(self) -> int:
        """Return how many tokens there are."""
        return self._decoder.vocabulary

    @property
    def capacity(self) -> int | None:
        """Return how many tokens a text may have, None for any number."""
        return self._decoder.capacity

    @property
    def batch(self) -> int:
        """Return of how many texts a step reads a token."""
        return self._decoder.batch

    @property
    def ends(self) -> tuple[int, ...]:
        """Return the tokens that end each text, which is before them."""
        return self._ends

    @property
    def sampling(self) -> Sampling:
        """Return how tokens are chosen unless another way is asked for, as the package says."""
        return self._decoder.sampling

    @property
    def session(self) -> Session:
        """Return the session that runs the steps."""
        return self._decoder.session

    @property
    def decoder(self) -> Decoder:
        """Return what runs the steps."""
        return self._decoder

    def sequence(self, inputs: Mapping[str, Any] = _NONE) -> TextSequence:
        """Begin a text; `inputs` are what else the decoder takes, such as what an encoder made."""
        return TextSequence(self._decoder, inputs)

    def generate(
        self,
        prompt: Prompt,
        *,
        max_tokens: int | None = None,
        sampling: Sampling | None = None,
        stop: Any = (),
        callback: Callback | None = None,
        inputs: Mapping[str, Any] = _NONE,
    ) -> list[int]:
        """Return the tokens that follow a prompt, which is tokens or, with a tokenizer, text.

        It ends before a token of `stop` or of `ends`, after a token that completes a string of
        `stop`, after `max_tokens`, or where there is no more room. `sampling` says how tokens are
        chosen, as the package does by default. `callback` gets each token as it is made. Raises
        RunError for a prompt that there is no room for.
        """
        made: list[int] = []
        for token in self.stream(
            prompt, max_tokens=max_tokens, sampling=sampling, stop=stop, inputs=inputs
        ):
            made.append(token)
            if callback is not None:
                callback(token)
        return made

    def stream(
        self,
        prompt: Prompt,
        *,
        max_tokens: int | None = None,
        sampling: Sampling | None = None,
        stop: Any = (),
        inputs: Mapping[str, Any] = _NONE,
    ) -> Iterator[int]:
        """Yield the tokens that `generate` returns, each as it is made."""
        stops = Stops(stop, self._tokenizer, self._ends)
        text = self._kept.begin(self.tokens_of(prompt), inputs)
        guesser = self._guesser()
        try:
            request = Request(text, sampling or self.sampling, max_tokens, stops)
            if request.choose():
                yield request.made[-1]
            while not request.finished:
                yield from request.read(self._guess(guesser, request))
        finally:
            if guesser is not None:
                guesser.close()
            self._kept.keep(text)

    def stream_text(
        self,
        prompt: Prompt,
        *,
        max_tokens: int | None = None,
        sampling: Sampling | None = None,
        stop: Any = (),
        callback: Callback | None = None,
        inputs: Mapping[str, Any] = _NONE,
    ) -> Iterator[str]:
        """Yield the text that follows in pieces, up to a string of `stop`.

        The arguments are those of `generate`. Raises RunError without a tokenizer.
        """
        if self._tokenizer is None:
            raise RunError("the generator has no tokenizer, which text needs: give one")
        pieces = TextStream(self._tokenizer, Stops(stop, self._tokenizer).strings)
        for token in self.stream(
            prompt, max_tokens=max_tokens, sampling=sampling, stop=stop, inputs=inputs
        ):
            if callback is not None:
                callback(token)
            if piece := pieces.add(token):
                yield piece
        if piece := pieces.finish():
            yield piece

    def generate_batch(
        self,
        prompts: Iterable[Prompt],
        *,
        max_tokens: int | None = None,
        sampling: Sampling | Sequence[Sampling] | None = None,
        stop: Any = (),
        callback: Callable[[int, int], object] | None = None,
    ) -> list[list[int]]:
        """Return what follows each of several prompts, as `generate` does: the same tokens.

        A step reads a token of each of up to `batch` texts; where one ends, the next prompt takes
        its place. `callback` gets the number of a prompt and a token of it. `sampling` may be one
        for each prompt.
        """
        stops = Stops(stop, self._tokenizer, self._ends)
        tokens = [self.tokens_of(each) for each in prompts]
        sampling = self.sampling if sampling is None else sampling
        chosen = [sampling] * len(tokens) if isinstance(sampling, Sampling) else list(sampling)
        if len(chosen) != len(tokens):
            raise RunError(
                f"got {len(chosen)} samplings for {len(tokens)} prompts, must be as many"
            )
        made: list[list[int]] = [[] for _ in tokens]
        waiting, active = deque(range(len(tokens))), dict[int, Request]()

        def note(number: int, request: Request, was_made: bool) -> None:
            if was_made:
                made[number].append(request.made[-1])
                if callback is not None:
                    callback(number, request.made[-1])
            if request.finished:
                self._kept.keep(active.pop(number).text)

        try:
            while waiting or active:
                while waiting and len(active) < self.batch:
                    number = waiting.popleft()
                    text = self._kept.begin(tokens[number], _NONE)
                    active[number] = request = Request(text, chosen[number], max_tokens, stops)
                    note(number, request, request.choose())
                self._step(list(active.values()))
                for number, request in list(active.items()):
                    note(number, request, request.choose())
        finally:
            for request in active.values():
                request.text.close()
        return made

    def tokens_of(self, prompt: Prompt) -> NDArray[np.int64]:
        """Return the tokens of a prompt; raise RunError for one that has none, or is unreadable."""
        if not isinstance(prompt, str):
            found = checked_tokens(prompt, self.vocabulary)
        elif self._tokenizer is not None:
            found = checked_tokens(self._tokenizer.encode(prompt).ids, self.vocabulary)
        else:
            raise RunError("the prompt is text, which needs a tokenizer: give one, or tokens")
        if not len(found):
            raise RunError("the prompt is empty, must have a token at least")
        return found

    def clear(self) -> None:
        """Forget the texts that are kept."""
        self._kept.clear()

    def _step(self, requests: Sequence[Request]) -> None:
        """Read the last token of each of several texts at once."""
        if not requests:
            return
        texts = [each.text for each in requests]
        tokens = np.array([[each.made[-1]] for each in requests], np.int64)
        logits = self._decoder.step(texts, tokens, (0,))
        for number, text in enumerate(texts):
            text.advance(tokens[number], logits[number][-1])

    def _guesser(self) -> Guesser | None:
        if self._guesses < 1:
            return None
        if self._draft is not None:
            return Draft(self._draft)
        return PromptLookup() if self._lookup else None

    def _guess(self, guesser: Guesser | None, request: Request) -> Sequence[int]:
        """Return guesses of what follows: no more than are needed, and fit."""
        if guesser is None:
            return ()
        limits = (request.left, None if (room := request.text.room) is None else room - 1)
        count = min([self._guesses, *(each for each in limits if each is not None)])
        if count < 1:
            return ()
        return guesser.guess([*request.text.tokens, request.made[-1]], request.sampling, count)


def _session(source: Source, threads: int | None) -> Session:
    if isinstance(source, Session):
        return source
    package = source if isinstance(source, Package) else Package.open(source)
    return Session(package, threads=threads)


def _draft_decoder(
    draft: "Generator | Session | Package | str | os.PathLike[str]",
    threads: int | None,
    vocabulary: int,
) -> Decoder:
    made = draft.decoder if isinstance(draft, Generator) else Decoder(_session(draft, threads))
    if made.vocabulary != vocabulary:
        raise RunError(
            f"the draft has {made.vocabulary} tokens, the generator {vocabulary}: they must have "
            "one vocabulary"
        )
    return made
