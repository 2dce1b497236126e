import json
import math
from dataclasses import replace
from typing import Any

import pytest
from trivium.runtime.checks import check
from trivium.runtime.contents import FIRST_PORT, Buffer, Entry, Memory, MemorySpace, Port
from trivium.runtime.cpu.code import Kernel
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.errors import PackageError
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest


def edited(manifest: Manifest, path: str, value: Any) -> str:
    """Return the text of a manifest with one place replaced."""
    document = json.loads(manifest.to_json())
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = document
    for key in parents:
        place = place[key]
    place[last] = value
    return json.dumps(document)


def stored(manifest: Manifest) -> Manifest:
    entries = (Entry("weights.bin", 64, ""), Entry("cpu/scale.o", 1, ""))
    return replace(manifest, entries=entries)


def refusal(text: str) -> str:
    with pytest.raises(PackageError) as caught:
        Manifest.from_json(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_manifest_survives_json(manifest: Manifest):
    attributes = {
        "axis": -1,
        "eps": 1e-5,
        "mode": "x",
        "flag": True,
        "pads": (1, (2, 3)),
        "n": None,
    }
    step = HostStep(op="tri.topk", attributes=attributes, operands=(0, -1), results=(3,))
    manifest = replace(manifest, steps=(*manifest.steps, step))
    again = Manifest.from_json(manifest.to_json())
    assert again == manifest
    kinds = {name: type(value) for name, value in again.steps[1].attributes.items()}
    assert kinds == {name: type(value) for name, value in attributes.items()}


def test_floats_that_json_lacks_survive(manifest: Manifest):
    attributes = {"min": -math.inf, "max": math.inf, "both": (math.nan, -0.0)}
    step = HostStep(op="tri.clip", attributes=attributes)
    text = replace(manifest, steps=(step,)).to_json()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    again = Manifest.from_json(text).steps[0].attributes
    assert (again["min"], again["max"]) == (-math.inf, math.inf)
    assert repr(again["both"]) == "(nan, -0.0)"


def test_the_order_of_attributes_does_not_show(manifest: Manifest):
    one, two = (HostStep(op="t.a", attributes=a) for a in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    texts = {replace(manifest, steps=(step,)).to_json() for step in (one, two)}
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("buffers.3.offset", "0", "'buffers[3].offset' is a string, must be an integer"),
        ("buffers.0.base", True, "'buffers[0].base' is a boolean, must be an integer"),
        ("buffers.0.offset", 1.5, "'buffers[0].offset' is a number, must be an integer"),
        ("buffers.1.shape.0", None, "'buffers[1].shape[0]' is null, must be an integer"),
        ("buffers.1.shape", "y", "'buffers[1].shape' is a string, must be a list"),
        ("memory", [], "'memory' is a list, must be an object"),
        ("steps.0.kind", 3, "'steps[0].kind' is an integer, must be a string"),
        ("memory.spare", 1, "'memory.spare' is unknown; known are arena_bytes, arena_lower_bound"),
        ("steps.1.attributes", 3, "'steps[1].attributes' is an integer, must be an object"),
        (
            "steps.1.attributes",
            {"a": [{"float": "1"}]},
            "'steps[1].attributes.a[0]' is an object, must be a scalar, a list or one of the "
            "floats nan, inf, -inf",
        ),
    ],
)
def test_a_stray_value_is_named(manifest: Manifest, path: str, value: object, message: str):
    manifest = replace(manifest, steps=(*manifest.steps, HOST))
    assert refusal(edited(manifest, path, value)).startswith(f"manifest: {message}")


def test_a_missing_field_is_named(manifest: Manifest):
    document = json.loads(manifest.to_json())
    del document["inputs"][0]["dtype"]
    assert refusal(json.dumps(document)) == "manifest: 'inputs[0].dtype' is missing"


def test_a_later_version_is_refused_before_its_fields_are_read(manifest: Manifest):
    document = json.loads(edited(manifest, "version", 14))
    document["novelty"] = 1
    message = refusal(json.dumps(document))
    assert message.startswith("manifest: 'version' is 14, this runtime reads up to 13: update")


@pytest.mark.parametrize("value", [0, 8, 9, -1])
def test_an_earlier_version_is_refused(manifest: Manifest, value: int):
    assert f"'version' is {value}, this runtime reads 12: compile the model again" in refusal(
        edited(manifest, "version", value)
    )


@pytest.mark.parametrize("text", ['{"format": "other"}', "[]", "7", "null"])
def test_a_foreign_document_is_refused(text: str):
    assert "'format' is " in refusal(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is nested too deep"),
        ('{"a": NaN}', "holds the number NaN, which JSON does not have"),
        ('{"a": 1, "a": 2}', "'a' occurs twice in one object"),
        ('{"a": ' + "9" * 5000 + "}", "is not JSON"),
    ],
)
def test_broken_json_is_refused(text: str, message: str):
    assert message in refusal(text)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(PackageError, match="is not JSON"):
        Manifest.from_json(b"\xff\xfe\xff")


def test_a_sound_manifest_passes(manifest: Manifest):
    check(stored(manifest))


def buffer(**change: Any) -> dict[str, Any]:
    plain = Buffer("t", 0, 0, (16,), "float32")
    return {"buffers": (*FIRST, replace(plain, **change))}


def space(name: str, weight_bytes: int = 0) -> MemorySpace:
    return MemorySpace(name, 64, 64, weight_bytes)


FIRST = (
    Buffer("x", FIRST_PORT, 0, (16,), "float32"),
    Buffer("y", FIRST_PORT + 1, 0, (16,), "float32"),
    Buffer("w", 1, 0, (16,), "float32"),
)
HOST = HostStep(op="tri.neg", operands=(0,), results=(3,))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (buffer(base=5), "'buffers[3].base' is 5, must be at least 0 and below 5"),
        (buffer(base=-1), "'buffers[3].base' is -1, must be at least 0"),
        (buffer(offset=4), "'buffers[3]' ends at byte 68, its base 0 has 64"),
        (buffer(offset=2, shape=(1,)), "must be 0 or a multiple of 4 above it"),
        (buffer(offset=-4), "'buffers[3].offset' is -4, must be 0 or a multiple"),
        (buffer(shape=(-1,)), "'buffers[3].shape' is [-1], sizes must not be negative"),
        (buffer(shape=(1 << 60, 0)), "more than any memory holds"),
        (buffer(shape=(1,) * 65), "'buffers[3].shape' has 65 dimensions, at most 64"),
        (buffer(dtype="float33"), "'buffers[3].dtype' is 'float33', which no runtime knows"),
        (buffer(base=1, shape=(17,)), "ends at byte 68, its base 1 has 64"),
        (buffer(base=2), "ends at byte 64, its base 2 has 0"),
        (buffer(base=4, shape=(17,)), "ends at byte 68, its base 4 has 64"),
        (
            {"memory": Memory(-1, 0, 64)},
            "'memory.arena_bytes' is -1, must be from 0 to 140737488355328",
        ),
        ({"memory": Memory(1 << 62, 0, 64)}, "must be from 0 to 140737488355328"),
        ({"memory": Memory(64, 0, 60)}, "'memory.weight_bytes' is 60, 'weights.bin' has 64 bytes"),
        (
            {"inputs": (Port("x", (16,), "float32", 9),)},
            "'inputs[0].buffer' is 9, must be at least 0 and below 4",
        ),
        ({"inputs": (Port("x", (16,), "int32", 0),)}, "'inputs[0]' is int32[16], its buffer 0 is"),
        ({"inputs": (Port("x", (16,), "float32", 3),)}, "must lie at base 3 offset 0"),
        (
            {"outputs": (Port("y", (16,), "float32", 1),) * 2},
            "'outputs[1].name' is 'y', as is an earlier one",
        ),
        ({"steps": (CpuStep(symbol=""),)}, "'steps[0].symbol' is empty, must name a function"),
        ({"steps": (replace(HOST, op="os.path.x"),)}, "'steps[0].op' is 'os.path.x', must look"),
        ({"steps": (replace(HOST, op="tri.neg\n"),)}, "must look like 'dialect.op'"),
        (
            {"steps": (replace(HOST, operands=(4,)),)},
            "'steps[0].operands[0]' is 4, must be at least -1 and below 4",
        ),
        ({"steps": (replace(HOST, operands=(-2,)),)}, "'steps[0].operands[0]' is -2"),
        ({"steps": (replace(HOST, results=(-1,)),)}, "'steps[0].results[0]' is -1"),
        ({"steps": (replace(HOST, results=(2,)),)}, "is 2, which would overwrite the weights"),
        ({"steps": (replace(HOST, results=(0,)),)}, "is 0, which would overwrite an input"),
        (
            {"parts": (CpuPart((Kernel("f", "cpu/no.o"),)),)},
            "'kernels[0].object' is 'cpu/no.o', which is not",
        ),
        ({"parts": (CpuPart(), CpuPart())}, "'parts[1].kind' is 'cpu', as is an earlier one"),
        ({"spaces": (space("gpu"), space("gpu"))}, "'spaces' are ['gpu', 'gpu'], must have"),
        ({"spaces": (space("../x"),)}, "'spaces[0].name' is '../x', must look like 'gpu'"),
        ({"spaces": (space("gpu\n"),)}, r"'spaces[0].name' is 'gpu\n', must look like 'gpu'"),
        ({"spaces": (space("host"),)}, "'spaces' are ['host'], must have different names"),
        ({"spaces": (space("gpu", 8),)}, "'spaces[0].weight_bytes' is 8, 'gpu/weights.bin' has 0"),
    ],
)
def test_a_manifest_that_does_not_fit_together_is_refused(
    manifest: Manifest, change: dict[str, Any], message: str
):
    with pytest.raises(PackageError) as caught:
        check(replace(stored(manifest), **change))
    assert str(caught.value).startswith("manifest: ")
    assert "\n" not in str(caught.value).replace("tri.neg\n", "")
    assert message in str(caught.value)


def test_absent_operands_and_empty_tensors_are_fine(manifest: Manifest):
    step = replace(HOST, operands=(-1, 0))
    check(replace(stored(manifest), steps=(step,), **buffer(shape=(0, 5), offset=64)))
