"""What a user may choose about numbers, and what it makes of the passes."""

import math

import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.options import DEFAULT, CompileOptions
from trivium.targets.registry import find_target


def winograd_error(options: CompileOptions, opt_level: int = 2) -> float:
    passes = find_target("cpu").passes(opt_level, options)
    (found,) = [p for p in passes if p.name == "choose-winograd"]
    return vars(found)["error"]


def test_the_error_reaches_the_pass() -> None:
    assert winograd_error(DEFAULT) == 6e-6
    assert winograd_error(CompileOptions(winograd_error=2e-5)) == 2e-5
    assert winograd_error(CompileOptions(math="strict")) == 0
    assert winograd_error(CompileOptions(math="strict", winograd_error=0.0)) == 0


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("exact",), "math is 'exact', must be one of fast, strict"),
        (("fast", -1.0), "winograd_error is -1.0, must be a number from 0 on"),
        (("fast", math.nan), "winograd_error is nan, must be a number from 0 on"),
        (("fast", math.inf), "winograd_error is inf, must be a number from 0 on"),
        (("strict", 1e-6), "winograd_error is 1e-06, but strict math allows none"),
    ],
)
def test_refuses_what_it_cannot_do(arguments: tuple[str, float], fault: str) -> None:
    with pytest.raises(CompileError, match=fault):
        CompileOptions(math=arguments[0], winograd_error=(*arguments, None)[1])


def test_refuses_arithmetic_that_there_is_not() -> None:
    with pytest.raises(CompileError, match="quantized is 'bits', must be one of floats, integers"):
        CompileOptions(quantized="bits")


def test_activations_are_one_of_three_and_exact_for_strict_math() -> None:
    wrong = "activations is 'i4', must be one of model, exact, i8"
    with pytest.raises(CompileError, match=wrong):
        CompileOptions(activations="i4")
    with pytest.raises(CompileError, match="activations is 'i8', but strict math rounds nothing"):
        CompileOptions(activations="i8", math="strict")
    assert CompileOptions(activations="exact", math="strict").activations == "exact"
