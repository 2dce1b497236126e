"""Logits have the same bits, however a text is read: in pieces, beside others, by any threads."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import trivium
from numpy.typing import NDArray
from trivium.test.unit.generated_decoders import LLAMA, MISTRAL, Family, decoder
from trivium.test.unit.runtime.generation.test_few_bits import few_bits

LENGTH = 300
LONG = replace(LLAMA, layers=1, longest=LENGTH)
WORDS = np.random.default_rng(2).integers(0, LONG.words, LENGTH)


def pieces(size: int) -> list[int]:
    """Return the sizes of pieces of the text: small ones at its ends, and where a chunk ends."""
    if size > 5:
        return [size] * (LENGTH // size) + [LENGTH % size]
    few = [size] * (12 // size)
    count = sum(few)
    return [*few, 118 - count, *few, LENGTH - 118 - 2 * count, *few]


def read(generator: trivium.Generator, sizes: Sequence[int]) -> NDArray[Any]:
    """Return the logits of the text, read in pieces."""
    with generator.sequence() as text:
        made = [text.append_each(WORDS[text.length :][:size]) for size in sizes]
    return np.concatenate(made)


@pytest.mark.parametrize(
    ("family", "level", "cache"),
    [
        (LONG, None, "f32"),
        (replace(LONG, heads=4, shared=2, size=24), 4, "fp16"),
        (replace(MISTRAL, layers=1, longest=LENGTH, window=140), 0, "bf16"),
        (replace(MISTRAL, layers=1, longest=LENGTH, window=140, size=24), None, "int8"),
    ],
    ids=["f32", "few bits by i8, f16 cache", "few bits, window, bf16 cache", "window, i8 cache"],
)
def test_logits_have_the_same_bits(family: Family, level: int | None, cache: str) -> None:
    model = decoder(family) if level is None else few_bits(decoder(family), level)
    sizes = {"capacity": LENGTH, "chunk": LENGTH, "batch": 4}
    package = trivium.build(model, generate=sizes, state_precision=cache)
    generators = [trivium.Generator(package, threads=threads) for threads in (1, 2)]
    whole = read(generators[0], [LENGTH])
    for size in (1, 3, 4, 5, 64, 128, LENGTH):
        for generator in generators:
            made = read(generator, pieces(size))
            assert np.array_equal(made, whole), f"pieces of {size} tokens"
    for generator in generators:
        texts = [generator.sequence() for _ in range(4)]
        lengths = (299, 3, 130, 64)
        for text, length in zip(texts, lengths, strict=True):
            text.append(WORDS[:length])
        logits = generator.decoder.step(texts, WORDS[list(lengths), None], (0,))
        for number, length in enumerate(lengths):
            assert np.array_equal(logits[number][0], whole[length]), f"beside {length} others"


def test_texts_in_bytes_are_cut_forked_and_saved() -> None:
    """The scales of rows go where the rows go."""
    package = trivium.build(decoder(LONG), generate={"capacity": LENGTH}, state_precision="int8")
    generator = trivium.Generator(package)
    whole = read(generator, [LENGTH])
    text = generator.sequence()
    text.append(WORDS[:100])
    text.append(WORDS[:20])
    text.truncate(60)
    assert np.array_equal(text.append_each(WORDS[60:130]), whole[60:130])
    twin, file = text.fork(90), io.BytesIO()
    assert np.array_equal(twin.append(WORDS[90:100]), whole[99])
    text.save(file)
    other = trivium.Generator(package).sequence()
    other.restore(io.BytesIO(file.getvalue()))
    assert np.array_equal(other.append(WORDS[130:140]), whole[139])
