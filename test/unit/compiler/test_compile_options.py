"""Options are declared once: keywords, flags, help and checks derive from `CompileOptions`."""

import argparse
import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import trivium
from trivium.compiler.arguments import takes_options
from trivium.targets.option import options_of
from trivium.targets.options import DEFAULT, CompileOptions
from trivium.tools import arguments

FUNCTIONS = (trivium.compile, trivium.build, trivium.check, trivium.can_run)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_keywords_of_functions_are_the_fields(function) -> None:
    model, *options = inspect.signature(function).parameters.values()
    assert model.name == "model"
    assert [each.name for each in options] == [each.name for each in fields(CompileOptions)]
    assert all(each.default == getattr(DEFAULT, each.name) for each in options)
    assert all(f"`{each.name}`: " in function.__doc__ for each in options)


def test_each_option_has_help_and_a_check() -> None:
    for each in options_of(CompileOptions):
        assert each.help
        assert each.check(getattr(DEFAULT, each.name)) == getattr(DEFAULT, each.name)


def test_each_flag_of_an_option_is_one_of_trivium_compile(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = argparse.ArgumentParser()
    arguments.add_compile_arguments(parser, package=True)
    flags = parser.parse_args(
        ["--target=host", "--shape=N=2", "--opt-level=0", "--winograd-error=0", "--strict"]
    )
    given = {"target": "host", "shapes": {"N": 2}, "opt_level": 0, "winograd_error": 0.0}
    assert arguments.compile_arguments(flags) == {**given, "strict": True}
    assert arguments.given_compile_arguments(flags) == [
        *("--target", "--strict", "--shape", "--opt-level", "--winograd-error")
    ]
    with pytest.raises(SystemExit):
        parser.parse_args(["--winograd-error=-1"])
    assert "--winograd-error: '-1' must be a number from 0 on" in capsys.readouterr().err


def test_options_are_converted_before_the_function_runs() -> None:
    @takes_options(CompileOptions)
    def run(model: str, options: CompileOptions) -> CompileOptions:
        return options

    assert run("m", machine=["x86-64-v3"]).machine == ("x86-64-v3",)
    with pytest.raises(trivium.CompileError, match="opt_level is 7, must be one of 0, 1, 2"):
        run("m", opt_level=7)
    with pytest.raises(TypeError, match="unexpected keyword argument 'level'"):
        run("m", level=7)  # type: ignore[call-arg]


@pytest.mark.slow
def test_type_checkers_know_the_keywords(tmp_path: Path) -> None:
    file = tmp_path / "typed.py"
    file.write_text(
        "import trivium\n"
        "trivium.compile('a.onnx', machine=('a', 'b'), opt_level=1)\n"
        "trivium.compile('a.onnx', opt_level='1')\n"
        "trivium.build('a.onnx', levels=1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "-p", tmp_path, file], capture_output=True, text=True
    )
    wrong = [line for line in done.stdout.splitlines() if " error: " in line]
    assert len(wrong) == 2, done.stdout
    assert 'parameter "opt_level" of type "int"' in wrong[0]
    assert 'No parameter named "levels"' in wrong[1]
