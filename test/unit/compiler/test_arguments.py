"""Arguments of the public functions: what they accept, and one line for each that they refuse."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.runtime.errors import Fault

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    layer (float[N, 3] x) => (float[N, 3] y) { y = Relu (x) }
""")
FEEDS = np.ones((2, 3), np.float32)

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"shapes": {"N": 1.5}}, "shapes['N'] is 1.5, must be a whole number from 0 to "),
    ({"shapes": {"N": -1}}, "shapes['N'] is -1, must be a whole number from 0 to "),
    ({"shapes": {"N": 10**30}}, "must be a whole number from 0 to 9223372036854775807"),
    ({"shapes": {"N": True}}, "shapes['N'] is True, must be a whole number"),
    ({"shapes": {"N": "2"}}, "shapes['N'] is '2', must be a whole number"),
    ({"shapes": {"x": (1, 2.5)}}, "shapes['x'][1] is 2.5, must be a whole number"),
    ({"shapes": {"x": "1x3"}}, "shapes['x'] is '1x3', must be a whole number"),
    ({"shapes": [("N", 1)]}, "shapes is of type list, must be a dictionary of sizes or shapes"),
    ({"shapes": {1: 1}}, "shapes is of type dict, must be a dictionary of sizes or shapes by name"),
    ({"constants": [FEEDS]}, "constants is of type list, must be a dictionary of arrays by name"),
    ({"constants": {"x": [[1.0]]}}, "constants['x'] is of type list, must be a numpy array"),
    ({"opt_level": "2"}, "opt_level is '2', must be one of 0, 1, 2"),
    ({"opt_level": 3}, "opt_level is 3, must be one of 0, 1, 2"),
    ({"opt_level": -1}, "opt_level is -1, must be one of 0, 1, 2"),
    ({"opt_level": True}, "opt_level is True, must be one of 0, 1, 2"),
    ({"threads": True}, "threads is True, must be a whole number from 1 to 1024"),
    ({"threads": 0}, "threads is 0, must be a whole number from 1 to 1024"),
    ({"cores": "0-"}, "cores is '0-', must be like '0-3,8', [0, 1] or 'all'"),
    ({"cores": [0, -1]}, "cores is of type list, must be like '0-3,8', [0, 1] or 'all'"),
    ({"target": None}, "target is None, must be a string"),
    ({"target": 3}, "target is 3, must be a string"),
    ({"math": None}, "math is None, must be one of fast, strict"),
    ({"winograd_error": "x"}, "winograd_error is 'x', must be a number from 0 on"),
    ({"winograd_error": float("nan")}, "winograd_error is nan, must be a number from 0 on"),
    ({"machine": None}, "machine is None, must be a string or several"),
    ({"machine": [3]}, "machine is of type list, must be a string or several"),
    ({"tuning": 3}, "tuning is 3, must be the path of a file"),
    ({"strict": "no"}, "strict is 'no', must be True or False"),
    ({"candidates": 1}, "candidates is 1, must be True or False"),
    ({"progress": 3}, "progress is 3, must be a function"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_an_argument_must_be_is_said_in_one_line(
    arguments: dict[str, Any], message: str
) -> None:
    given = {"shapes": {"N": 1}, **arguments}
    with pytest.raises((trivium.CompileError, Fault)) as caught:
        trivium.compile(MODEL, **given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_wrong_arguments_are_listed() -> None:
    wrong: Any = {"opt_level": 7, "strict": "no", "target": 3}
    with pytest.raises(trivium.CompileError) as caught:
        trivium.build(MODEL, **wrong)
    assert str(caught.value).splitlines() == [
        "error: opt_level is 7, must be one of 0, 1, 2",
        "error: strict is 'no', must be True or False",
        "error: target is 3, must be a string",
    ]


@pytest.mark.parametrize("model", [None, 3, object(), [MODEL]])
def test_a_model_is_of_a_type_that_a_frontend_reads(model: Any) -> None:
    for function in (trivium.compile, trivium.check, trivium.can_run):
        with pytest.raises(trivium.CompileError, match=r"^error: model is of type \w+, must be "):
            function(model)


def test_a_number_is_not_taken_for_the_descriptor_of_an_open_file(tmp_path: Path) -> None:
    with (tmp_path / "data").open("wb") as file:
        model: Any = file.fileno()
        for function in (trivium.compile, trivium.load):
            with pytest.raises((trivium.CompileError, trivium.RunError)):
                function(model)
        file.write(b"still open")
        file.flush()


@pytest.mark.parametrize("path", ["", "nowhere.onnx", "a\0b", Path("nowhere.param")])
def test_a_path_that_cannot_be_read(path: Any) -> None:
    with pytest.raises(trivium.CompileError):
        trivium.compile(path)


@pytest.mark.parametrize("size", [2, np.int64(2), np.uint8(2), np.array(2)])
def test_a_size_is_a_whole_number_of_any_kind(size: Any) -> None:
    assert trivium.compile(MODEL, shapes={"N": size}).inputs[0].shape == (2, 3)
    whole = (size, None)
    assert trivium.compile(MODEL, shapes={"x": whole}).inputs[0].shape == (2, 3)


@pytest.mark.parametrize("error", [0, 0.0, 1, np.float32(0)])
def test_numbers_become_floats(error: Any) -> None:
    package = trivium.build(MODEL, shapes={"N": 1}, winograd_error=error)
    assert type(package.manifest.math.winograd_error) is float


def test_sizes_and_values_that_contradict_are_refused() -> None:
    with pytest.raises(trivium.CompileError, match=r"size 2 by constants\['x'\], 1 by shapes"):
        trivium.compile(MODEL, shapes={"N": 1}, constants={"x": FEEDS})


def test_a_constant_of_text_is_not_one_of_numbers() -> None:
    with pytest.raises(
        trivium.CompileError, match=r"x: error: input is bound to .* object, must be"
    ):
        trivium.compile(MODEL, constants={"x": np.zeros((2, 3), object)})


@pytest.mark.parametrize("dtype", ["U3", "M8[s]"])
def test_a_constant_has_an_element_type_of_ours(dtype: str) -> None:
    with pytest.raises(trivium.CompileError, match="x: error: input is bound to a value: element"):
        trivium.compile(MODEL, constants={"x": np.zeros((2, 3), dtype)})
