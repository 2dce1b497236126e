"""What is said beforehand of tiles is what compilation finds: they fit some way, or in none."""

from pathlib import Path

import numpy as np
import pytest
from drawn_networks import network
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.interpret import ConstantEvaluator, run
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import view
from trivium.dialects.core.tensor import Array
from trivium.dialects.dla.dialect import TensorOp
from trivium.targets.dla.layout.memory_layout import MemoryLayout
from trivium.targets.dla.phases import MEM_ALLOC, TENSOR_SCHED
from trivium.targets.dla.pipeline import default_phases
from trivium.targets.dla.registry import Configuration
from trivium.targets.dla.select.fitting import tiling_refusal
from trivium.targets.dla.vanilla.packets import FILE

pytestmark = pytest.mark.usefixtures("context")

MEMORIES = {"sram": 262144, "weights": 65536, "accumulator": 262144}


def described(file: Path, sizes: dict[str, int]) -> None:
    """Write a description whose memories have other sizes."""
    text = FILE.read_text()
    for name, size in sizes.items():
        old = f"{name} = {{ bytes = {MEMORIES[name]},"
        assert old in text
        text = text.replace(old, f"{name} = {{ bytes = {size},")
    file.write_text(text)


def refusals(module: Module, file: Path) -> list[str]:
    """Return what is said of the ops of a group."""
    (group,) = [op for op in ops(module.main) if isinstance(op, tri.Group)]
    outside = dict(zip(group.block.arguments, group.operation.operands, strict=True))

    def constant(value: ir.Value) -> Array | None:
        given = outside.get(value, value)
        made = view(given.owner) if isinstance(given, ir.OpResult) else None
        return None if isinstance(made, TensorOp) else ConstantEvaluator(module.weights)(given)

    members = [op for op in ops(group.block) if isinstance(op, TensorOp)]
    layout = MemoryLayout(Configuration("vanilla", str(file)).description)
    found = [tiling_refusal(op, module, layout, constant) for op in members]
    return [reason for reason in found if reason is not None]


@pytest.mark.parametrize("seed", range(80))
def test_tiles_fit_just_where_that_is_said(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    shape = (int(random.integers(1, 3)), *map(int, random.integers(1, 20, 2)), 40)
    # So small that about every second op does not fit.
    most = {"sram": 9, "weights": 11, "accumulator": 8}
    sizes = {name: 16 << int(random.integers(0, most[name])) for name in MEMORIES}
    described(file := tmp_path / "tiny.toml", sizes)
    module = network(seed, shape, 1)
    x = random.integers(-128, 128, shape).astype(np.int8)
    expected = run(module, [x])
    reasons = refusals(module, file)
    phases = default_phases(Configuration("vanilla", str(file)))
    if reasons:
        with pytest.raises(CompileError, match="no schedule fits the memories"):
            phases.run(module, lambda _: None, only=(TENSOR_SCHED, MEM_ALLOC))
        return
    phases.run(module, lambda _: None, only=(TENSOR_SCHED, MEM_ALLOC))
    for found, wanted in zip(run(module, [x]), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
