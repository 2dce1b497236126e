"""A network trained on real digits knows them on an accelerator, bit for bit at each form."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array
from trivium.passes.instrumentation import Instrumentation
from trivium.passes.pipeline import Stage
from trivium.runtime.dla.part import DlaPart
from trivium.runtime.session import Session
from trivium.targets.choices import INTEGERS
from trivium.targets.dla.phases import MEM_ALLOC, TENSOR_SCHED
from trivium.targets.registry import choose_target
from trivium.test.unit.compiler.digits import Digits, digits

BATCH = 99
FORMS = ("assign-residency", "lower-to-buffers", "prefetch", "allocate-buffers", "insert-tokens")


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("digits") / "q.onnx"
    trivium.quantize(digits().model, {"x": digits().calibration}, file)
    return file


def scores(session: Session, data: Digits) -> Array:
    parts = np.split(data.images, len(data.images) // BATCH)
    return np.concatenate([session.run({"x": part})["y"] for part in parts])


def test_accuracy_is_within_one_percent_of_floats(quantized: Path) -> None:
    data = digits()
    floats = scores(Session(build(data.model, target="cpu")), data)
    package = build(str(quantized), target="vanilla")
    found = scores(Session(package), data)
    assert data.accuracy(floats) > 0.9
    assert data.accuracy(found) >= data.accuracy(floats) - 0.01
    assert len(package.manifest.part(DlaPart).programs) == 1
    integers = scores(Session(build(str(quantized), target="cpu", quantized=INTEGERS)), data)
    np.testing.assert_array_equal(found, integers)


class Interpreted(Instrumentation):
    """Execute the module after each pass."""

    def __init__(self, x: Array) -> None:
        self.x = x
        self.found: dict[str, Array] = {}

    def after(self, stage: Stage, module: Module) -> None:
        (self.found[stage.name],) = run(module, [self.x])


def test_each_form_gives_the_same_bits(quantized: Path) -> None:
    x = digits().images[:BATCH]
    expected = Session(build(str(quantized), target="vanilla")).run({"x": x})["y"]
    with new_context():
        module = import_onnx(onnx.load(quantized))
        pipeline_for("vanilla", 2).run(module)
        (placed,) = run(module, [x])
        np.testing.assert_array_equal(placed, expected)
        hook = Interpreted(x)
        choose_target("vanilla").pipeline().run(
            module, lambda _: None, hook, only=(TENSOR_SCHED, MEM_ALLOC)
        )
    assert tuple(hook.found) == FORMS
    for name, found in hook.found.items():
        np.testing.assert_array_equal(found, expected, err_msg=name)
