"""Draw what a package does in the language of Graphviz: calls and steps, and what they hand on.

Source of the language: "DOT Language", graphviz.org.
"""

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ...runtime.contents import ABSENT, FIRST_PORT, PREPARED, WEIGHTS
from ...runtime.manifest import Manifest
from ...runtime.observe.calls import CallTable
from ...runtime.package import Package
from ...runtime.spelling import spell_dtype, spell_names, spell_shape
from ...runtime.step import AFTER, END, START, Step

COLOURS = {"cpu": "#dbe9f6", "gpu": "#dff0d8", "host": "#fdf1d0", "copy": "#eeeeee"}
"""The colours of boxes by target; those of accelerators are all the same."""

OTHER = "#f2dede"

Place = tuple[int, object]


class Box(NamedTuple):
    """Hold one call or step: what it is, where it runs, and the buffers it reads and writes."""

    label: tuple[str, ...]
    target: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]


def graph_text(package: Package) -> str:
    """Return the graph of a run: inputs, calls of kernels and steps in order, outputs."""
    manifest = package.manifest
    drawing = _Drawing(manifest)
    _draw(manifest.steps, CallTable(package), manifest, drawing)
    return "\n".join(drawing.lines())


def _draw(steps: Sequence[Step], calls: CallTable, manifest: Manifest, drawing: "_Drawing") -> None:
    """Draw steps in order; each body of a step is a frame behind the step."""
    for step in steps:
        listed = calls.of(step)
        for call in listed:
            ops = " + ".join(call.ops)
            drawing.add(Box((spell_names(call.nodes), ops), "cpu", call.reads, call.writes))
        if not listed:
            label = spell_names(step.nodes), step.operation(manifest)
            box = Box(label, step.target, step.operands, step.results)
            name = drawing.add(box)
            uses = list(step.uses())
            for body, inner in step.inner().items():
                own = [use for use in uses if use.body == body]
                with drawing.frame(name, body.removesuffix(".steps")):
                    drawing.made_by(name, [use.buffer for use in own if use.when == START])
                    _draw(inner, calls, manifest, drawing)
                    returned = [use.buffer for use in own if use.when == END]
                    drawing.returned(name, [*returned, *box.writes])
            after = [use.buffer for use in uses if use.when == AFTER]
            drawing.made_by(name, [*box.writes, *after])


class _Drawing:
    """Connect boxes: a value is of the last box before that wrote to its place."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._makers: dict[Place, str] = {}
        self._boxes: list[str] = []
        self._arrows: list[str] = []
        for number, port in enumerate(manifest.inputs):
            name = f"in{number}"
            self._boxes.append(_node(name, (port.name,), "ellipse", "white"))
            self._makers[FIRST_PORT + number, 0] = name

    def add(self, box: Box) -> str:
        """Draw a box, with arrows from what it reads; return its name."""
        name = f"c{len(self._boxes)}"
        colour = COLOURS.get(box.target, OTHER)
        self._boxes.append(_node(name, (*filter(None, box.label), box.target), "box", colour))
        for index in dict.fromkeys(box.reads):
            self._connect(index, name)
        self.made_by(name, box.writes)
        return name

    def made_by(self, name: str, buffers: Sequence[int]) -> None:
        """Let a box be what wrote to the places of buffers last."""
        for index in buffers:
            if index != ABSENT:
                self._makers[self._place(index)] = name

    @contextmanager
    def frame(self, name: str, label: str) -> Generator[None]:
        """Draw a frame around the boxes of a body of the step with this name."""
        self._boxes.append(f"  subgraph {_quoted(f'cluster_{name}_{label}')} {{")
        self._boxes.append(f"  label={_quoted(label)};")
        yield
        self._boxes.append("  }")

    def returned(self, name: str, buffers: Sequence[int]) -> None:
        """Draw dashed arrows from the results of a body to the step that has it."""
        places = [self._place(each) for each in buffers if each != ABSENT]
        for maker in dict.fromkeys(map(self._makers.get, places)):
            if maker not in (None, name):
                self._arrows.append(f"  {maker} -> {name} [style=dashed, constraint=false];")

    def lines(self) -> Iterator[str]:
        """Yield the lines of the drawing, with the outputs at its end."""
        for number, port in enumerate(self._manifest.outputs):
            name = f"out{number}"
            kept = " (kept)" if port.name in self._manifest.kept else ""
            self._boxes.append(_node(name, (port.name + kept,), "ellipse", "white"))
            self._connect(port.buffer, name)
        yield "digraph run {"
        yield '  node [fontname="sans-serif", fontsize=10, style=filled];'
        yield '  edge [fontname="sans-serif", fontsize=8];'
        yield from self._boxes
        yield from self._arrows
        yield "}"

    def _connect(self, index: int, reader: str) -> None:
        """Draw an arrow to what reads a buffer; constants have none."""
        if index == ABSENT or self._manifest.buffers[index].base in (WEIGHTS, PREPARED):
            return
        maker = self._makers.get(self._place(index))
        if maker is not None:
            buffer = self._manifest.buffers[index]
            label = f"{spell_dtype(buffer.dtype)} {spell_shape(buffer.shape)}"
            self._arrows.append(f"  {maker} -> {reader} [label={_quoted(label)}];")

    def _place(self, index: int) -> Place:
        buffer = self._manifest.buffers[index]
        return buffer.base, buffer.offset


def _node(name: str, label: Sequence[str], shape: str, colour: str) -> str:
    text = _quoted("\n".join(label))
    return f"  {name} [label={text}, shape={shape}, fillcolor={_quoted(colour)}];"


def _quoted(text: str) -> str:
    """Quote text as JSON does, whose escapes for quotes and new lines DOT has, too."""
    return json.dumps(text, ensure_ascii=False)
