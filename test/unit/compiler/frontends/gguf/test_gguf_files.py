"""GGUF files that are damaged, contradict themselves or have what is not supported."""

import contextlib
import functools
import random
import resource
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import trivium
from gguf import GGMLQuantizationType as Type
from trivium.compiler.frontends.gguf import import_gguf
from trivium.compiler.frontends.gguf.file import Strings, read_gguf
from trivium.compiler.frontends.gguf.split_files import read_model
from trivium.compiler.source import find_format
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.test.unit.compiler.frontends.gguf.gguf_models import Model, weights, write

MODEL = Model(layers=1)


def fault_of(path: Path, **shapes: Any) -> str:
    with new_context(), pytest.raises(CompileError) as caught:
        import_gguf(path, shapes=shapes)
    return str(caught.value)


@functools.cache
def data(tmp: Path) -> bytes:
    write(tmp / "whole.gguf", MODEL, weights(MODEL), {"ffn": Type.Q8_0})
    return (tmp / "whole.gguf").read_bytes()


def changed(tmp: Path, change: Callable[[bytearray], None]) -> Path:
    made = bytearray(data(tmp))
    change(made)
    (tmp / "changed.gguf").write_bytes(made)
    return tmp / "changed.gguf"


Change = Callable[[bytearray], None]


def put(code: str, at: int, value: int) -> Change:
    return lambda made: struct.pack_into(code, made, at, value)


def put_after(text: bytes, more: int, code: str, value: int) -> Change:
    return lambda made: put(code, made.index(text) + len(text) + more, value)(made)


def cut(at: int) -> Change:
    return lambda made: made.__delitem__(slice(at, None))


def test_a_header_has_what_the_package_reads(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf", MODEL, weights(MODEL), Type.Q4_0)
    file, peer = read_gguf(tmp_path / "model.gguf"), gguf.GGUFReader(tmp_path / "model.gguf")
    fields = {n: each for n, each in peer.fields.items() if not n.startswith("GGUF.")}
    assert file.metadata.keys() == fields.keys()
    for name, each in fields.items():
        value = file.metadata[name]
        if isinstance(value, Strings):
            assert value.count == len(each.contents())
        else:
            wanted = each.contents()
            assert (value.tolist() if isinstance(value, np.ndarray) else value) == wanted
    assert list(file.tensors) == [each.name for each in peer.tensors]
    for each in peer.tensors:
        tensor = file.tensors[each.name]
        assert tensor.shape == tuple(each.shape[::-1])
        wanted = gguf.quants.dequantize(each.data, each.tensor_type)
        np.testing.assert_array_equal(tensor.floats(), wanted.reshape(tensor.shape))


WORDS, KEYS_OF_WORDS = b"token_embd.weight", b"tokenizer.ggml.tokens"
DAMAGED: dict[str, Change] = {
    "is no GGUF file, must begin with 'GGUF'": put("<I", 0, 7),
    "has version 1 of GGUF, must have 2 or 3": put("<I", 4, 1),
    "is big-endian, must be little-endian: convert it with gguf's scripts": put(">I", 4, 3),
    "breaks off in the magic number: needs 4 bytes at byte 0": cut(2),
    "breaks off in the key count: needs 8 bytes at byte 16": cut(20),
    f"has a key of {2**60} bytes, must have at most 65536": put("<Q", 24, 2**60),
    f"breaks off in the array 'tokenizer.ggml.scores': needs {2**62} bytes": put_after(
        b"ggml.scores", 8, "<Q", 2**60
    ),
    "breaks off in the array 'tokenizer.ggml.tokens': needs": put_after(
        KEYS_OF_WORDS, 8, "<Q", 2**40
    ),
    "has an array of type 9 for key 'tokenizer.ggml.tokens', must be scalars or text": put_after(
        KEYS_OF_WORDS, 4, "<I", 9
    ),
    "has a value of type 77 for key 'llama.vocab_size', must be of type 0 to 12": put_after(
        b"vocab_size", 0, "<I", 77
    ),
    "has tensor 'token_embd.weight' of rank 9, must be at most 4": put_after(WORDS, 0, "<I", 9),
    "tensor 'token_embd.weight' of type F32 and shape [40, 1099511627776]": put_after(
        WORDS, 4, "<Q", 2**40
    ),
    "has tensor 'token_embd.weight' of type F32 and shape [40, 0], must have no": put_after(
        WORDS, 4, "<Q", 0
    ),
    "breaks off in tensor 'blk.0.ffn_down.weight' of type Q8_0 and shape [64, 96]": cut(-64),
    "of type Q4_K and shape [64, 64], its rows must be blocks of 256": put_after(
        b"blk.0.attn_q.weight", 20, "<I", 12
    ),
}


@pytest.mark.parametrize("fault", DAMAGED)
def test_a_damaged_header_is_one_line(fault: str, tmp_path: Path) -> None:
    message = fault_of(changed(tmp_path, DAMAGED[fault]))
    assert message.startswith(f"error: cannot read '{tmp_path / 'changed.gguf'}': ")
    assert fault in message
    assert "\n" not in message


def test_a_key_or_a_tensor_that_is_there_twice(tmp_path: Path) -> None:
    def rename(made: bytearray, old: bytes, new: bytes) -> None:
        made[made.index(old) : made.index(old) + len(old)] = new

    path = changed(tmp_path, lambda made: rename(made, b"0.attn_k.weight", b"0.attn_q.weight"))
    assert fault_of(path).endswith("has tensor 'blk.0.attn_q.weight' twice")
    path = changed(tmp_path, lambda made: rename(made, b"ggml.scores", b"ggml.tokens"))
    assert fault_of(path).endswith("has key 'tokenizer.ggml.tokens' twice")


def test_files_that_are_not_there_or_empty(tmp_path: Path) -> None:
    assert "No such file" in fault_of(tmp_path / "none.gguf")
    (tmp_path / "empty.gguf").touch()
    assert fault_of(tmp_path / "empty.gguf").endswith("is empty")


def written(tmp_path: Path, model: Model = MODEL, given: Any = None, **kinds: Any) -> Path:
    write(tmp_path / "model.gguf", model, given or weights(model), kinds or Type.F32)
    return tmp_path / "model.gguf"


def test_all_tensors_that_do_not_fit_are_listed(tmp_path: Path) -> None:
    given = weights(MODEL)
    del given["blk.0.attn_norm.weight"]
    given["blk.0.ffn_norm.weight"] = np.ones(63, np.float32)
    given["blk.0.attn_sinks.weight"] = np.ones(4, np.float32)
    given["blk.0.attn_q.weight"] = np.ones((64, 256), np.float32)
    assert fault_of(written(tmp_path, given=given, attn_q=Type.TQ2_0)).splitlines() == [
        "blk.0.attn_norm.weight: error: tensor is missing, must be [64]",
        "blk.0.attn_q.weight: error: tensor has shape [64, 256], must have [64, 64]",
        "blk.0.ffn_norm.weight: error: tensor has shape [63], must have [64]",
        "blk.0.attn_sinks.weight: error: tensor is not one of a 'llama' decoder, and would be "
        "ignored",
    ]


def test_types_that_are_not_read_are_named(tmp_path: Path) -> None:
    model = Model(layers=1, hidden=256, size=64)
    message = fault_of(written(tmp_path, model, attn_q=Type.TQ2_0, attn_k=Type.TQ1_0))
    first, second = message.splitlines()
    assert first.startswith("blk.0.attn_q.weight: error: tensor is TQ2_0, must be F32, F16, BF16, ")
    assert second.startswith("blk.0.attn_k.weight: error: tensor is TQ1_0, must be ")


def test_of_many_faults_the_first_are_listed(tmp_path: Path) -> None:
    given = {name: each for name, each in weights(MODEL).items() if "blk" not in name}
    model = replace(MODEL, layers=2)
    given |= {f"unknown.{i}": np.ones(1, np.float32) for i in range(30)}
    lines = fault_of(written(tmp_path, model, given)).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "error: 28 more tensors do not fit"


KEYS = {
    "expert_used_count": (2, "is 2, which is not supported"),
    "logit_scale": (0.5, "is 0.5, which is not supported"),
    "attention.causal": (False, "is False, must be True, which alone is supported"),
    "rope.scaling.type": ("su", "is 'su', must be one of none, linear, longrope, yarn"),
    "rope.dimension_count": (17, "is 17, must be an integer in [1, 16], the same for all layers"),
}


@pytest.mark.parametrize("key", KEYS)
def test_keys_that_are_not_supported(key: str, tmp_path: Path) -> None:
    value, fault = KEYS[key]
    model = replace(MODEL, keys={key: value})
    assert fault_of(written(tmp_path, model)) == f"llama.{key}: error: key {fault}"


def test_all_keys_that_do_not_fit_are_listed(tmp_path: Path) -> None:
    model = replace(MODEL, keys={"expert_count": 8, "logit_scale": 0.5}, layers=900, shared=3)
    given = weights(MODEL)
    assert fault_of(written(tmp_path, model, given)).splitlines() == [
        f"llama.block_count: error: key is 900, must be an integer in [1, {len(given)}], "
        "the same for all layers",
        "llama: error: has 4 query heads for 3 key heads, must be a multiple",
        "llama.expert_used_count: error: key is missing, must be an integer in [1, 8], "
        "the same for all layers",
        "llama.logit_scale: error: key is 0.5, which is not supported",
    ]


def test_experts_of_other_architectures_are_refused(tmp_path: Path) -> None:
    model = replace(MODEL, arch="gemma", tied=True, keys={"expert_count": 8})
    message = fault_of(written(tmp_path, model))
    fault = "is 8: experts of this architecture are not supported"
    assert message == f"gemma.expert_count: error: key {fault}"


def test_a_model_of_experts_says_how_many(tmp_path: Path) -> None:
    model = replace(MODEL, arch="qwen3moe", shared=3)
    first, *_ = fault_of(written(tmp_path, model)).splitlines()[1:]
    fault = "key is missing, must be an integer from 1 on, the same for all layers"
    assert first == f"qwen3moe.expert_count: error: {fault}"


def test_architectures_that_are_not_known(tmp_path: Path) -> None:
    message = fault_of(written(tmp_path, replace(MODEL, arch="mamba")))
    assert message == (
        "general.architecture: error: architecture 'mamba' is not supported, must be one of llama, "
        "qwen2, qwen3, qwen2moe, qwen3moe, phi2, phi3, gemma, gemma2, gemma3"
    )


def parts(tmp: Path) -> list[Path]:
    """Write a model to three files, as the package does."""
    write(tmp / "parts.gguf", MODEL, weights(MODEL), {"ffn": Type.Q8_0}, per_file=5)
    found = [tmp / f"parts-{i:05}-of-00003.gguf" for i in range(1, 4)]
    assert all(each.exists() for each in found)
    return found


def test_a_model_in_several_files_is_read_by_any_of_them(tmp_path: Path) -> None:
    write(tmp_path / "one.gguf", MODEL, weights(MODEL), {"ffn": Type.Q8_0})
    one = read_gguf(tmp_path / "one.gguf")
    for path in parts(tmp_path)[::2]:
        several = read_model(path)
        assert list(several.tensors) == list(one.tensors)
        for name, tensor in one.tensors.items():
            assert np.array_equal(several.tensors[name].raw, tensor.raw)
        assert {n: v for n, v in several.metadata.items() if not n.startswith("split.")}.keys() == (
            one.metadata.keys()
        )
    with new_context():
        import_gguf(path)


def test_files_that_are_no_parts_of_one_model(tmp_path: Path) -> None:
    first, second, third = parts(tmp_path)
    third.rename(tmp_path / "away.gguf")
    assert fault_of(first) == f"error: cannot read '{third}': No such file or directory"
    assert fault_of(tmp_path / "away.gguf") == (
        f"{tmp_path / 'away.gguf'}: error: key 'split.count' is 3, so its name must end in "
        "-00001-of-00003.gguf, with the other files beside it"
    )
    third.write_bytes(second.read_bytes())
    assert fault_of(first) == (
        f"error: '{third}' says that it is part 1 of 3, must be 2 of 3: parts are counted from 0"
    )
    whole = bytearray(second.read_bytes())
    place = whole.index(b"split.no") + len(b"split.no") + 4
    struct.pack_into("<H", whole, place, 2)
    third.write_bytes(whole)
    assert "has tensor 'blk.0.attn_" in fault_of(first)
    whole = bytearray(first.read_bytes())
    place = whole.index(b"split.tensors.count") + len(b"split.tensors.count") + 4
    struct.pack_into("<i", whole, place, 99)
    first.write_bytes(whole)
    (tmp_path / "away.gguf").rename(third)
    assert fault_of(second) == (
        f"{first}: error: key 'split.tensors.count' is 99, the files have 12 tensors"
    )


def test_a_header_says_what_ends_texts(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(77)
    writer.add_eos_token_id(7)
    writer.add_eot_token_id(9)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    known = find_format(path).describe_decoder(path)
    assert (known.ends, known.context) == ((7, 9), 77)


def test_more_rows_than_the_context_has(tmp_path: Path) -> None:
    path = written(tmp_path, replace(MODEL, context=8))
    message = fault_of(path, sequence_length=9, past_sequence_length=0, total_sequence_length=9)
    assert message == "rope: error: decoder has 9 keys, must be at most 8, the model's context"


def test_inputs_take_no_constants(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="is a GGUF file: its inputs take no constants"):
        trivium.compile(str(written(tmp_path)), constants={"attention_mask": np.ones((1, 1))})


def mutated(whole: bytes, header: int, drawn: random.Random) -> bytes:
    """Change bits, bytes and numbers of a header, or cut it off."""
    mutant = bytearray(whole)
    for _ in range(drawn.choice([1, 1, 2, 4])):
        at = drawn.randrange(header)
        match drawn.randrange(4):
            case 0:
                mutant[at] ^= 1 << drawn.randrange(8)
            case 1:
                mutant[at] = drawn.choice([0, 255, drawn.randrange(256)])
            case 2:
                mutant[at : at + 8] = struct.pack("<q", drawn.choice([-1, 1 << 40, 1 << 62]))
            case _:
                return bytes(mutant[: drawn.randrange(len(mutant))])
    return bytes(mutant)


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def test_mutated_files_are_refused_or_read(tmp_path: Path) -> None:
    """No change of a header ends in a traceback, or takes more memory than a file has bytes."""
    whole, drawn, refused = data(tmp_path), random.Random(0), 0
    stored = sum(each.raw.size for each in read_gguf(tmp_path / "whole.gguf").tensors.values())
    before = peak_bytes()
    for _ in range(300):
        (tmp_path / "mutant.gguf").write_bytes(mutated(whole, len(whole) - stored, drawn))
        with new_context(), contextlib.suppress(CompileError):
            refused += 1
            import_gguf(tmp_path / "mutant.gguf")
            refused -= 1
    assert 150 < refused < 300
    assert peak_bytes() - before < 64 << 20
