"""Operations that use the same bytes must be ordered by their dependencies."""

from dataclasses import replace

from trivium.targets.dla.nvdla.configuration import published
from trivium.targets.dla.nvdla.format.dla_task import Tables, dla_tasks
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.targets.dla.nvdla.format.network import Consumer, Event, Precision
from trivium.targets.dla.nvdla.format.operations import PDP
from trivium.targets.dla.nvdla.lint.hazards import Use, rows_of
from trivium.targets.dla.nvdla.lint.linter import lint
from trivium.targets.dla.nvdla.surfaces import layout_of
from trivium.test.unit.targets.dla.nvdla.descriptor_edits import changed, encoded
from trivium.test.unit.targets.dla.nvdla.recorded import vector

CHAIN = Loadable.read(vector("nv_full", "chain13_0").loadable)
"""CONV 0 feeds SDP 1, whose result PDP 2 reads; CONV 3 feeds SDP 4, and reads that of PDP 2."""


def findings(loadable: Loadable) -> list[str]:
    return [str(each) for each in lint(loadable, published()["nv_full"])]


def without_edge(producer: int, engine: int, consumer: int) -> Loadable:
    """Return the network without one of the notifications, and with counts that agree."""
    (task,) = dla_tasks(Tables(CHAIN))
    operations = list(task.operations)
    consumers = list(operations[producer].dependency.consumers)
    assert consumers[engine] == Consumer(consumer, Event.COMPLETED)
    consumers[engine] = Consumer()
    for number, values in (
        (producer, {"consumers": tuple(consumers)}),
        (consumer, {"dependency_count": operations[consumer].dependency.dependency_count - 1}),
    ):
        old = operations[number]
        operations[number] = replace(old, dependency=replace(old.dependency, **values))
    return encoded(CHAIN, replace(task, operations=tuple(operations)))


def test_the_network_has_none() -> None:
    assert findings(CHAIN) == []


def test_a_missing_dependency() -> None:
    """The pool would read what the SDP before it may not yet have written."""
    assert findings(without_edge(1, PDP, 2)) == [
        "operation 2 (PDP): reads 'source', operation 1 (SDP) writes the same bytes, "
        "and neither waits for the other"
    ]


def test_programmed_is_not_completed() -> None:
    (task,) = dla_tasks(Tables(CHAIN))
    consumers = list(task.operations[1].dependency.consumers)
    consumers[PDP] = Consumer(2, Event.PROGRAMMED)
    (found,) = findings(changed(CHAIN, 1, "dependency", consumers=tuple(consumers)))
    assert found.startswith("operation 2 (PDP): reads 'source', operation 1 (SDP) writes")


def test_memory_that_is_used_again_too_soon() -> None:
    """SDP 1 would write over what CONV 0, which feeds it, still reads."""
    (task,) = dla_tasks(Tables(CHAIN))
    source = task.operations[0].surface.source  # type: ignore[union-attr]
    destination = task.operations[1].surface.destination  # type: ignore[union-attr]
    within = replace(destination, address=source.address)
    found = findings(changed(CHAIN, 1, "surface", destination=within))
    message = "operation 0 (CONV): reads 'source', operation 1 (SDP) writes the same bytes"
    assert f"{message}, and neither waits for the other" in found


def test_rows_between_other_rows_are_no_hazard() -> None:
    """Two results share a buffer, row by row in turn: their bytes are others."""
    (task,) = dla_tasks(Tables(CHAIN))
    first = task.operations[0].surface.source  # type: ignore[union-attr]
    half = first.height // 2
    shape = {"height": half, "line_stride": 2 * first.line_stride, "size": 0}
    layout = layout_of(replace(first, **shape), published()["nv_full"], Precision.INT8)
    row = layout.width * layout.atom
    even = Use(task.operations[0], "source", False, 4, rows_of(layout), row)
    odd = replace(even, starts=even.starts + first.line_stride)
    assert not even.overlaps(odd)
    assert even.overlaps(replace(odd, starts=odd.starts - 1))
    assert odd.overlaps(replace(even, size=row + 1))
    assert not even.overlaps(replace(even, memory=5))
