"""The reshape engine: a deconvolution with torch as the reference, planes, and faults."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Operation, Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import Dependency
from trivium.targets.dla.nvdla.format.operations import RUBIK, RubikOperation, TwoCubes
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.reference.rubik import CONTRACT, MERGE, SPLIT, contract
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import encoded
from trivium.test.unit.targets.dla.nvdla.handmade import Data, Step, cube, handmade
from trivium.test.unit.targets.dla.nvdla.recorded import Array, vector

POOL = vector("nv_full", "13_pool")
FULL = published()["nv_full"]


def test_a_deconvolution_is_that_of_torch() -> None:
    """Its kernels are as large as its strides: then it is a product, and a contraction."""
    rng = np.random.default_rng(3)
    image = rng.integers(-9, 9, (5, 4, 3))
    weights = rng.integers(-9, 9, (5, 7, 2, 3))  # C, K, R, S
    expected = torch.nn.functional.conv_transpose2d(
        torch.tensor(image[None]), torch.tensor(weights), stride=(2, 3)
    )[0].numpy()
    sums = np.zeros((2, 3, 8, 4, 3), np.int64)  # 7 kernels in an atom of 8
    for r in range(2):
        for s in range(3):
            sums[r, s, :7] = np.einsum("ck,chw->khw", weights[:, :, r, s], image)
    operation = RubikOperation(CONTRACT, 0, stride_x=3, stride_y=2)
    found = contract(sums.reshape(-1, 4, 3), operation, 7, 8)
    assert np.array_equal(found, expected)
    with pytest.raises(ValueError, match="has 40 channels of input, must be 48"):
        contract(sums.reshape(-1, 4, 3)[:40], operation, 7, 8)


def loadable(operation: RubikOperation, source: dict[str, int], to: dict[str, int]) -> Loadable:
    """Return the recorded pool's loadable with an operation of RUBIK in its place."""
    found = Loadable.read(POOL.loadable)
    (task,) = dla_tasks(Tables(found))
    cubes = task.operations[0].surface
    assert isinstance(cubes, TwoCubes)
    changed = TwoCubes(replace(cubes.source, **source), replace(cubes.destination, **to))
    made = Operation(0, RUBIK, Dependency(engine=RUBIK), operation, changed)
    network = replace(task.network, heads=(-1, -1, -1, -1, -1, 0))
    return encoded(found, replace(task, network=network, operations=(made,)))


PLANES = {"line_stride": 8, "plane_stride": 72}


def in_memory(image: Array) -> Array:
    """Return the bytes of an image [32, 9, 8] whose channels are one atom."""
    return np.ascontiguousarray(image.transpose(1, 2, 0)).ravel()


def test_the_simulator_splits_and_merges() -> None:
    (x,) = POOL.inputs
    (found,) = run(loadable(RubikOperation(SPLIT), {}, PLANES), FULL, [x])
    assert np.array_equal(in_memory(found), x.ravel())
    (found,) = run(loadable(RubikOperation(MERGE), PLANES, {}), FULL, [x])
    assert np.array_equal(found.ravel(), in_memory(x))


def test_the_simulator_contracts() -> None:
    (x,) = POOL.inputs
    one = RubikOperation(CONTRACT, 0, 1, 1)
    (found,) = run(loadable(one, {}, {}), FULL, [x])
    assert np.array_equal(found, x)
    with pytest.raises(CompileError, match=r"\(RUBIK\): error: 'source' ends at 0x1200 by its"):
        run(loadable(replace(one, stride_x=2), {}, {}), FULL, [x])


@pytest.mark.parametrize("stated", [14, 32, 64])
def test_a_contraction_reads_the_channels_that_it_needs(stated: int) -> None:
    """The vendor's compiler states 7 kernels for each of 2 pixels, which are atoms apart."""
    rng = np.random.default_rng(4)
    x = rng.integers(-128, 128, (64, 3, 4)).astype(np.int8)
    data = [Data(x.shape, role="input"), Data((32, 3, 8), role="output")]
    source = replace(cube(data, 0, FULL), channels=stated)
    surface = TwoCubes(source, cube(data, 1, FULL))
    made = handmade([Step(RubikOperation(CONTRACT, 0, 2, 1), surface)], data, FULL)
    (found,) = run(made, FULL, [x])
    assert np.array_equal(found[..., ::2], x[:32])
    assert np.array_equal(found[..., 1::2], x[32:])


FAULTS: list[tuple[dict[str, int], str]] = [
    ({"line_stride": 7, "plane_stride": 72}, "has line stride 7, must be 8 or more"),
    ({"line_stride": 8, "plane_stride": 71}, "has plane stride 71, must be 72 or more"),
    ({"line_stride": 8, "plane_stride": 73}, "ends at 0x91f by its strides, its address at 0x900"),
    ({"height": 0}, "has 32x0x8 elements, must have some"),
]


@pytest.mark.parametrize(("values", "message"), FAULTS)
def test_faults_of_planes(values: dict[str, int], message: str) -> None:
    found = [str(each) for each in lint(loadable(RubikOperation(SPLIT), {}, values), FULL)]
    assert found == [f"operation 0 (RUBIK): 'destination' {message}"]


def test_other_modes_are_refused() -> None:
    with pytest.raises(CompileError, match="needs mode 3, which the simulator does not compute"):
        run(loadable(RubikOperation(3), {}, {}), FULL, POOL.inputs)
