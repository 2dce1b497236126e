"""Decoders whose matrices have 4 bits: the logits of ONNX Runtime, the same bits in any pieces."""

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
import trivium
from onnx import helper, numpy_helper
from trivium.test.unit.generated_decoders import LLAMA, MICROSOFT, decoder
from trivium.test.unit.runtime.generation.test_generator import Peer

FAMILY = replace(LLAMA, layers=1, longest=64)
WORDS = np.random.default_rng(1).integers(0, FAMILY.words, 60)
BLOCK = 32


def few_bits(model: onnx.ModelProto, level: int) -> onnx.ModelProto:
    """Replace all products with constant matrices by MatMulNBits, as the builder does."""
    graph = model.graph
    weights = {t.name: t for t in graph.initializer}
    for node in [n for n in graph.node if n.op_type == "MatMul" and n.input[1] in weights]:
        name = node.input[1]
        matrix = numpy_helper.to_array(weights[name]).T
        blocks = matrix.reshape(len(matrix), -1, BLOCK)
        scales = np.abs(blocks).max(-1) / 7
        numbers = (np.rint(blocks / scales[..., None]) + 8).astype(np.uint8)
        packed = numbers[..., ::2] | numbers[..., 1::2] << 4
        graph.initializer.remove(weights[name])
        graph.initializer.append(numpy_helper.from_array(packed, f"{name}.packed"))
        graph.initializer.append(numpy_helper.from_array(scales, f"{name}.scales"))
        given = {"K": matrix.shape[1], "N": len(matrix), "bits": 4, "block_size": BLOCK}
        made = helper.make_node(
            "MatMulNBits",
            [node.input[0], f"{name}.packed", f"{name}.scales"],
            [node.output[0]],
            node.name,
            domain=MICROSOFT,
            accuracy_level=level,
            **given,
        )
        node.CopyFrom(made)
    return model


@pytest.mark.parametrize("level", [0, 4])
def test_few_bits(level: int) -> None:
    model = few_bits(decoder(FAMILY), level)
    sizes = {"capacity": FAMILY.longest, "chunk": 60, "batch": 3}
    package = trivium.build(model, generate=sizes)
    generator = trivium.Generator(package)
    whole = generator.sequence().append_each(WORDS)
    np.testing.assert_allclose(whole, Peer(FAMILY, model).read(WORDS), rtol=1e-4, atol=1e-4)
    for threads, pieces in ((1, (5, 8, 16, 31)), (2, (10,) * 6)):
        text = trivium.Generator(package, threads=threads).sequence()
        got: list[Any] = [text.append_each(WORDS[text.length :][:n]) for n in pieces]
        assert np.array_equal(np.concatenate(got), whole)
    texts = [generator.sequence() for _ in range(3)]
    for text, length in zip(texts, (59, 3, 30), strict=True):
        text.append(WORDS[:length])
    alone = [text.fork() for text in texts]
    tokens = np.array([[WORDS[text.length]] for text in texts])
    logits = generator.decoder.step(texts, tokens, (0,))
    for number, text in enumerate(alone):
        assert np.array_equal(logits[number][0], text.append(tokens[number]))
