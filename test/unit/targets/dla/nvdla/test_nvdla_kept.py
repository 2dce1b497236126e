"""What convolutions leave in CBUF: used where it is what the next describes, refused elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.operations import ConvOperation
from trivium.targets.dla.nvdla.lint.kept_contents import kept_refusals
from trivium.targets.dla.nvdla.simulator import run
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import changed
from trivium.test.unit.targets.dla.nvdla.recorded import vector

RECORDED = vector("nv_full", "chain13_0")
CHAIN = Loadable.read(RECORDED.loadable)
(TASK,) = dla_tasks(Tables(CHAIN))
FIRST, SECOND = [n.number for n in TASK.operations if isinstance(n.descriptor, ConvOperation)][:2]
FULL = published()["nv_full"]


def kept(banks: dict[str, int], first: dict[str, int], second: dict[str, int]) -> Loadable:
    """Return the recorded network with other flags of its first two convolutions."""
    loadable = changed(CHAIN, FIRST, "descriptor", **first, **banks)
    return changed(loadable, SECOND, "descriptor", **second, **banks)


SAME = {"data_banks": 4, "weight_banks": 4}
FLAGS = [
    ({"skip_weight_release": 1}, {"weight_reuse": 1}, "the weights that"),
    ({"skip_data_release": 1}, {"data_reuse": 1}, "the data that"),
    ({"release": 1}, {"data_reuse": 1}, "rows that"),
]


@pytest.mark.parametrize(("first", "second", "what"), FLAGS)
def test_what_is_another_is_refused(
    first: dict[str, int], second: dict[str, int], what: str
) -> None:
    message = f"needs {what} operation {FIRST} \\(CONV\\) leaves in CBUF, which the simulator"
    with pytest.raises(CompileError, match=message):
        run(kept(SAME, first, second), FULL, RECORDED.inputs)


@pytest.mark.parametrize(("first", "second"), [each[:2] for each in FLAGS])
def test_other_banks_are_loaded_again(first: dict[str, int], second: dict[str, int]) -> None:
    loadable = changed(kept(SAME, first, second), SECOND, "descriptor", data_banks=5)
    (found,) = run(loadable, FULL, RECORDED.inputs)
    assert np.array_equal(found, RECORDED.output)


def test_kept_contents_that_are_the_same_are_used() -> None:
    loadable = kept(SAME, {"skip_weight_release": 1}, {"weight_reuse": 1})
    (task,) = dla_tasks(Tables(loadable))
    operations = list(task.operations)
    weights = operations[FIRST].surface.weights
    same = replace(operations[SECOND].surface, weights=weights)
    operations[SECOND] = replace(operations[SECOND], surface=same)
    assert kept_refusals(task).keys() == {SECOND}
    assert kept_refusals(replace(task, operations=tuple(operations))) == {}
    # Flags of one convolution alone keep nothing.
    for flags in ({"weight_reuse": 1}, {"skip_weight_release": 1}):
        (found,) = run(changed(CHAIN, SECOND, "descriptor", **flags), FULL, RECORDED.inputs)
        assert np.array_equal(found, RECORDED.output)
