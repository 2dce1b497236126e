"""Folders of onnxruntime-genai: names, ends and choices are those of the config beside a model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
import trivium
from trivium.runtime.generation.part import GenerationPart
from trivium.test.unit.generated_decoders import LLAMA, decoder
from trivium.test.unit.runtime.generation.test_generator import Peer

FAMILY = replace(LLAMA, layers=1)
NAMES = {"input_ids": "words", "attention_mask": "seen", "logits": "scores"}
NAMES |= {"past_key_values.0.key": "old_0_k", "past_key_values.0.value": "old_0_v"}
NAMES |= {"present.0.key": "new_0_k", "present.0.value": "new_0_v"}


def renamed(model: onnx.ModelProto) -> onnx.ModelProto:
    """Give other names to the ports of a model."""
    for port in (*model.graph.input, *model.graph.output):
        port.name = NAMES.get(port.name, port.name)
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [NAMES.get(name, name) for name in names]
    return model


def config(**search: Any) -> dict[str, Any]:
    return {
        "model": {
            "context_length": 48,
            "eos_token_id": [2, 39],
            "decoder": {
                "filename": "tiny.onnx",
                "inputs": {
                    "input_ids": "words",
                    "attention_mask": "seen",
                    "past_key_names": "old_%d_k",
                    "past_value_names": "old_%d_v",
                },
                "outputs": {
                    "logits": "scores",
                    "present_key_names": "new_%d_k",
                    "present_value_names": "new_%d_v",
                },
            },
        },
        "search": {"do_sample": False, "max_length": 48, "top_k": 5, "num_beams": 1, **search},
    }


def write(folder: Path, written: Any) -> Path:
    (folder / "genai_config.json").write_text(json.dumps(written))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("genai")
    onnx.save(renamed(decoder(FAMILY)), found / "tiny.onnx")
    return found


def test_a_folder_is_compiled_by_its_config(folder: Path) -> None:
    drawn = config(do_sample=True, temperature=0.5, top_p=1, repetition_penalty=1.5)
    package = trivium.build(write(folder, drawn), generate=True)
    assert package.manifest.part(GenerationPart).sampling == {
        "temperature": 0.5,
        "top_k": 5,
        "top_p": 1.0,
        "repetition_penalty": 1.5,
    }
    generator = trivium.Generator(package)
    assert (generator.capacity, generator.ends) == (48, (2, 39))
    chosen = trivium.Sampling(temperature=0.5, top_k=5, repetition_penalty=1.5)
    assert generator.sampling == chosen

    wanted = Peer(FAMILY).words((3, 7, 9), 30)
    greedy = trivium.Generator(package, ends=())
    assert greedy.generate([3, 7, 9], max_tokens=30, sampling=trivium.Sampling()) == wanted
    free = greedy.generate([3, 7, 9], max_tokens=30)
    assert free == greedy.generate([3, 7, 9], max_tokens=30, sampling=chosen) != wanted
    ended = trivium.Generator(package, ends=[free[9]]).generate([3, 7, 9], max_tokens=30)
    assert ended == free[: free.index(free[9])]


def test_a_package_keeps_what_its_config_says(folder: Path) -> None:
    package = trivium.build(write(folder, config(repetition_penalty=2.0)), generate=True)
    again = trivium.build(package, machine="x86-64-v3")
    part = again.manifest.part(GenerationPart)
    assert (part.ends, part.sampling) == ((2, 39), {"repetition_penalty": 2.0})


def fault(folder: Path, written: Any, **given: Any) -> list[str]:
    """Return the faults that an error lists, without the path of the config."""
    with pytest.raises(trivium.CompileError) as caught:
        trivium.build(write(folder, written), generate=given or True)
    path = str(folder / "genai_config.json")
    lines = str(caught.value).replace(f"{path}: ", "").splitlines()
    return [line.removeprefix("error: ") for line in lines]


def test_what_is_not_supported_is_refused(folder: Path) -> None:
    beams = config(num_beams=4, no_repeat_ngram_size=2, top_k="all", forced=1)
    assert fault(folder, beams) == [
        "'search.num_beams' is 4, must be 1",
        "'search.no_repeat_ngram_size' is 2, must be 0",
        "'search.forced' is there, which is not supported",
    ]
    written = config(do_sample=True, top_k="all")
    written["model"] |= {"vision": {}, "eos_token_id": "<eos>", "context_length": 0}
    written["model"]["decoder"] |= {"filename": "../x.onnx", "pipeline": []}
    del written["model"]["decoder"]["inputs"]["past_key_names"]
    assert fault(folder, written) == [
        "'model.vision' is there, which is not supported: a decoder is read",
        "'model.decoder.pipeline' is there, which is not supported",
        "'model.decoder.filename' is '../x.onnx', must be the name of a file beside this one",
        "'model.decoder.inputs.past_key_names' is missing, beside 'present_key_names'",
        "'model.eos_token_id' is '<eos>', must be a token, or several",
        "'search.top_k' is 'all', must be a number",
        "'model.context_length' is 0, must be a whole number from 1 on",
    ]


def test_what_does_not_fit_the_model_is_refused(folder: Path) -> None:
    written = config()
    written["model"]["eos_token_id"] = 40
    assert fault(folder, written) == ["token 40 ends texts, the model has 40 tokens"]
    written = config()
    written["model"]["decoder"]["inputs"]["past_key_names"] = "older_%d_k"
    assert fault(folder, written) == [
        "states make 'new_0_k' the input 'older_0_k', which is no input: the inputs are words, "
        "seen, old_0_k, old_0_v"
    ]
    assert fault(folder, config(), capacity=49) == [
        "generate has a capacity of 49, the model is made for texts of up to 48 tokens: compile "
        "it with that capacity at most"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2"),
        ("[]", "is not a JSON object"),
        ("{}", "'model' is missing, must be an object"),
        ('{"model": {"decoder": 3}}', "'model.decoder' is 3, must be an object"),
    ],
)
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "genai_config.json").write_text(text)
    with pytest.raises(trivium.CompileError) as caught:
        trivium.build(tmp_path, generate=True)
    assert f"genai_config.json: error: {message}" in str(caught.value)
