"""Tokens by a decoder: those of ONNX Runtime, however they are read, and in whatever company."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime
import pytest
import trivium
from trivium import Sampling
from trivium.runtime.generation.part import GenerationPart
from trivium.test.unit.generated_decoders import LLAMA, MISTRAL, QWEN_2, QWEN_3, Family, decoder

LONG = replace(LLAMA, longest=640)
PROMPT = (3, 7, 9, 11)


def build(family: Family, **sizes: int) -> trivium.Session:
    return trivium.compile(decoder(family), generate={"capacity": family.longest, **sizes})


@pytest.fixture(scope="module")
def session() -> trivium.Session:
    return build(LONG, chunk=600, batch=5)


@pytest.fixture
def generator(session: trivium.Session) -> trivium.Generator:
    return trivium.Generator(session.clone())


class Peer:
    """Reads tokens by ONNX Runtime, with a cache that grows."""

    def __init__(self, family: Family, model: Any = None) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        given = (decoder(family) if model is None else model).SerializeToString()
        self.session = onnxruntime.InferenceSession(given, options, ["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]
        self.family, self.past, self.length = family, family.empty(), 0

    def read(self, tokens: Any) -> Any:
        """Return the logits of all tokens."""
        self.length += len(tokens)
        mask = np.ones((1, self.length), np.int64)
        feeds = {"input_ids": np.array([tokens]), "attention_mask": mask, **self.past}
        made = dict(zip(self.names, self.session.run(None, feeds), strict=True))
        self.past = {to: made[name] for name, to in self.family.pairs.items()}
        return made["logits"][0]

    def words(self, prompt: Any, count: int) -> list[int]:
        """Return the likeliest words that follow."""
        found = [int(self.read(prompt)[-1].argmax())]
        while len(found) < count:
            found.append(int(self.read(found[-1:])[-1].argmax()))
        return found


@pytest.mark.parametrize(
    "family",
    [
        replace(LLAMA, longest=128),
        replace(QWEN_2, longest=128, layers=1),
        replace(QWEN_3, longest=128, layers=1),
        replace(MISTRAL, longest=128, layers=1),
    ],
    ids=["llama", "qwen 2", "qwen 3", "mistral"],
)
def test_words_are_those_of_onnxruntime(family: Family) -> None:
    generator = trivium.Generator(build(family, chunk=16))
    assert generator.generate(PROMPT, max_tokens=100) == Peer(family).words(PROMPT, 100)


WORDS = np.random.default_rng(1).integers(0, LONG.words, 600)


@pytest.fixture(scope="module")
def whole(session: trivium.Session) -> Any:
    """Return the logits of all words, read at once."""
    return trivium.Generator(session.clone()).sequence().append_each(WORDS)


def test_logits_of_a_long_text_are_those_of_onnxruntime(whole: Any) -> None:
    np.testing.assert_allclose(whole, Peer(LONG).read(WORDS), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("sizes", [(1, 1, 2, 3, 4, 5, 17), (255, 256)])
def test_a_text_in_pieces_has_the_same_bits(
    session: trivium.Session, whole: Any, sizes: tuple[int, ...], threads: int
) -> None:
    generator = trivium.Generator(session._program.package, threads=threads)
    with generator.sequence() as text:
        for size in (*sizes, 600 - sum(sizes)):
            got = text.append_each(WORDS[text.length : text.length + size])
            assert np.array_equal(got, whole[text.length - size : text.length])


def test_caches_are_written_in_place(session: trivium.Session) -> None:
    part = session.manifest.part(GenerationPart)
    assert session.manifest.updated == {each.output: each.input for each in part.caches}
    assert len(part.caches) == 4


def test_logits_are_computed_for_the_rows_that_are_asked_for(session: trivium.Session) -> None:
    shapes = [b.shape for b in session.manifest.buffers if b.shape[-1:] == (LONG.words,)]
    assert shapes
    assert all("sequence_length" not in map(str, shape) for shape in shapes)


def test_five_texts_at_once_have_the_bits_of_each_alone(generator: trivium.Generator) -> None:
    texts = [generator.sequence() for _ in range(5)]
    for text, length in zip(texts, [599, 1, 37, 300, 64], strict=True):
        text.append(WORDS[:length])
    alone = [text.fork() for text in texts]
    for step in range(2):
        numbers = [n for n, text in enumerate(texts) if text.length < 600]
        chosen = [texts[n] for n in numbers]
        tokens = np.array([[WORDS[text.length]] for text in chosen])
        logits = generator.decoder.step(chosen, tokens, (0,))
        for i, n in enumerate(numbers):
            assert np.array_equal(logits[i][0], alone[n].append(tokens[i])), (step, n)
            texts[n].advance(tokens[i], logits[i][0])


def test_a_text_goes_on_from_where_it_was_cut(generator: trivium.Generator, whole: Any) -> None:
    with generator.sequence() as text:
        text.append(WORDS[:500])
        text.append(PROMPT)
        text.truncate(300)
        assert text.logits is None
        got = text.append_each(WORDS[300:])
    assert np.array_equal(got, whole[300:])


def test_a_fork_goes_on_by_itself(generator: trivium.Generator, whole: Any) -> None:
    text = generator.sequence()
    text.append(WORDS[:100])
    twin, part = text.fork(), text.fork(40)
    text.append(PROMPT)
    assert np.array_equal(twin.append(WORDS[100:110]), whole[109])
    assert np.array_equal(part.append(WORDS[40:50]), whole[49])
    assert text.tokens == (*WORDS[:100].tolist(), *PROMPT)


def test_a_saved_text_goes_on_in_another_generator(
    session: trivium.Session, generator: trivium.Generator, whole: Any
) -> None:
    file = io.BytesIO()
    text = generator.sequence()
    text.append(WORDS[:70])
    text.save(file)
    other = trivium.Generator(session.clone()).sequence()
    other.append(PROMPT)
    other.restore(io.BytesIO(file.getvalue()))
    assert other.tokens == text.tokens
    assert np.array_equal(other.logits, whole[69])
    assert np.array_equal(other.append(WORDS[70:80]), whole[79])


def test_a_batch_of_prompts_has_the_words_of_each_alone(generator: trivium.Generator) -> None:
    """There are more prompts than places: where a text ends, another one begins."""
    prompts = [WORDS[a : a + n] for a, n in ((0, 4), (9, 1), (20, 30), (5, 2), (1, 3), (7, 9))]
    samplings = [Sampling(temperature=1.5, seed=i) for i in range(len(prompts))]
    alone = [
        generator.generate(prompt, max_tokens=12, sampling=sampling, stop=17)
        for prompt, sampling in zip(prompts, samplings, strict=True)
    ]
    assert len({len(made) for made in alone}) > 1, "all end at once, which tests little"
    heard: list[tuple[int, int]] = []
    got = generator.generate_batch(
        prompts,
        max_tokens=12,
        sampling=samplings,
        stop=17,
        callback=lambda number, token: heard.append((number, token)),
    )
    assert got == alone
    assert [[t for n, t in heard if n == i] for i in range(len(prompts))] == alone


@pytest.fixture
def counted(generator: trivium.Generator, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """List how many tokens each step of the generator reads."""
    steps: list[int] = []
    run = generator.session.run

    def counting(feeds: Any) -> Any:
        steps.append(feeds["input_ids"].shape[1])
        return run(feeds)

    monkeypatch.setattr(generator.session, "run", counting)
    return steps


def test_a_prompt_goes_on_from_an_earlier_text(
    generator: trivium.Generator, counted: list[int]
) -> None:
    first = generator.generate(WORDS[:50], max_tokens=8)
    wanted = trivium.Generator(generator.session.clone())
    longer = [*WORDS[:50].tolist(), *first, 5]
    counted.clear()
    assert generator.generate(longer, max_tokens=3) == wanted.generate(longer, max_tokens=3)
    assert counted[0] == 2, "what was read is the prompt and all but the last of what was made"
    counted.clear()
    other = [*WORDS[:20].tolist(), 1, 2]
    assert generator.generate(other, max_tokens=3) == wanted.generate(other, max_tokens=3)
    assert counted[0] == 2
    counted.clear()
    assert generator.generate(longer, max_tokens=3) == wanted.generate(longer, max_tokens=3)
    assert counted[0] == 1, "the longer text was kept beside its beginning"


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=0.8, top_p=0.9, seed=5)])
def test_guesses_change_no_words(
    generator: trivium.Generator, counted: list[int], sampling: Sampling
) -> None:
    wanted = generator.generate(PROMPT, max_tokens=60, sampling=sampling)
    plain = len(counted)
    for given in ({"lookup": True}, {"draft": trivium.Generator(generator.session.clone())}):
        guessing = trivium.Generator(generator.session, **given)
        counted.clear()
        assert guessing.generate(PROMPT, max_tokens=60, sampling=sampling) == wanted
        assert len(counted) < plain
    assert len(counted) <= 1 + plain // 4, "a draft that is the model itself is always right"


def test_texts_keep_to_a_grammar(generator: trivium.Generator, counted: list[int]) -> None:
    """Even tokens follow odd ones, and odd ones even ones; with guesses, and in a batch."""

    def allowed(text: Any) -> Any:
        return range(1 - text[-1] % 2, LONG.words, 2)

    plain = Sampling(temperature=0.9, seed=3)
    held = Sampling(temperature=0.9, seed=3, allowed=allowed)
    made = generator.generate(PROMPT, max_tokens=40, sampling=held)
    assert [token % 2 for token in made] == [0, 1] * 20
    assert made != generator.generate(PROMPT, max_tokens=40, sampling=plain)
    for given in ({"lookup": True}, {"draft": trivium.Generator(generator.session.clone())}):
        guessing = trivium.Generator(generator.session, **given)
        assert guessing.generate(PROMPT, max_tokens=40, sampling=held) == made
    got = generator.generate_batch([PROMPT, [5], PROMPT], max_tokens=40, sampling=held)
    assert got[0] == got[2] == made


def test_a_text_ends_before_a_token_and_where_it_is_full(generator: trivium.Generator) -> None:
    made = generator.generate(PROMPT, max_tokens=40)
    place = made.index(made[20])
    assert generator.generate(PROMPT, max_tokens=40, stop=[made[20], 999]) == made[:place]
    assert generator.generate(PROMPT, max_tokens=0) == []
    full = generator.generate(np.tile(WORDS, 2)[:638])
    assert len(full) == 3, "two are read, the third is the last one chosen"


def test_what_does_not_fit_is_refused(generator: trivium.Generator) -> None:
    def refused(action: Any) -> str:
        with pytest.raises(trivium.RunError) as caught:
            action()
        return str(caught.value)

    text = generator.sequence()
    assert refused(lambda: text.append([3, 40])) == (
        "token 1 is 40, must be from 0 to 39: the vocabulary has 40 tokens"
    )
    assert refused(lambda: generator.generate([0] * 641)) == (
        "the text would have 641 tokens, the package has room for 640: compile the model with a "
        "larger capacity"
    )
    assert text.length == 0
    assert refused(text.next_token) == (
        "the text has no logits of its last token: append a token first"
    )
    assert refused(lambda: text.truncate(1)) == "the text has 0 tokens, it cannot be cut to 1"
    assert refused(lambda: generator.generate([])) == (
        "the prompt is empty, must have a token at least"
    )
    assert refused(lambda: generator.generate("a")) == (
        "the prompt is text, which needs a tokenizer: give one, or tokens"
    )
    assert refused(lambda: text.append([0.5])) == (
        "tokens must be whole numbers, one after the other"
    )
    text.close()
    assert refused(lambda: text.append([1])) == "the text is closed: begin another one"
    other = trivium.Generator(generator.session)
    other.decoder.vocabulary = 30
    assert refused(lambda: trivium.Generator(generator.session, draft=other)) == (
        "the draft has 30 tokens, the generator 40: they must have one vocabulary"
    )
    assert refused(lambda: Sampling(top_p=2)) == (
        "top_p is 2, must be a number above 0 and at most 1"
    )
    assert refused(lambda: Sampling(seed=-1)) == (
        f"seed is -1, must be a whole number from 0 to {2**64 - 1}"
    )


def test_a_package_that_is_no_decoder_is_refused() -> None:
    session = trivium.compile(decoder(LLAMA), opt_level=0, target="host")
    with pytest.raises(trivium.RunError, match="the package is no decoder: compile the model with"):
        trivium.Generator(session)
