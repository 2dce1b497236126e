"""What holds for every pass: names, docs, idempotence, and that it keeps what a model computes."""

import inspect
import re
from pathlib import Path

import pytest
from ir_graphs import LIT, lit_modules, outputs, with_weights
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.passes.core import PASSES, Pass
from trivium.passes.verify_values import difference
from trivium.targets.registry import load_passes

load_passes()
OURS = {
    name: cls for name, cls in sorted(PASSES.items()) if cls.__module__.startswith("trivium.passes")
}
PASS_CLASSES = [pytest.param(cls, id=name) for name, cls in OURS.items()]
MODULES = {
    name: text for name, text in lit_modules().items() if not name.startswith("verify-values/find")
}

ROUNDED = {"round-activations": "round-activations/is_rounded"}
"""Modules that are computed with other numbers after a pass whose work that is."""


@pytest.mark.parametrize("cls", PASS_CLASSES)
def test_file_class_and_lit_test_have_one_name(cls: type[Pass]) -> None:
    assert Path(inspect.getfile(cls)).stem == cls.name.replace("-", "_")
    assert _lit_test(cls).exists()


def _lit_test(cls: type[Pass]) -> Path:
    """Return the lit test of a pass, in the folder that mirrors its source."""
    folder = cls.__module__.split(".")[2:-1]
    return LIT.joinpath(*folder, f"{cls.name}.mlir")


@pytest.mark.parametrize("cls", PASS_CLASSES)
def test_docstring_says_what_and_shows_it(cls: type[Pass]) -> None:
    assert re.fullmatch(r"[A-Z][^.]*[a-z][^.]*\.", cls.summary()), cls.summary()
    assert "=>" in (cls.__doc__ or "")


@pytest.mark.parametrize("cls", PASS_CLASSES)
def test_lit_test_has_cases_that_stay(cls: type[Pass]) -> None:
    text = _lit_test(cls).read_text()
    assert "@keeps_" in text or cls.name == "verify-values"


@pytest.mark.parametrize("cls", PASS_CLASSES)
def test_pass_keeps_results_and_settles_at_once(cls: type[Pass]) -> None:
    """Over the inputs of all lit tests; the second run must change no character."""
    step = cls()
    for name, text in MODULES.items():
        if "arith." in text or ROUNDED.get(cls.name) == name:
            continue
        with new_context(), ir.Location.unknown():
            module = with_weights(Module.parse(text))
            before = list(outputs(module))
            step.run(module)
            module.verify()
            after = list(outputs(module))
            for results, changed in zip(before, after, strict=True):
                for a, b in zip(results, changed, strict=True):
                    assert not difference(a, b), f"{name} {difference(a, b)}"
            once = str(module)
            step.run(module)
            assert str(module) == once, f"{name} changes in a second run"
