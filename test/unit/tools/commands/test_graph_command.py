"""Drawings of packages: boxes for calls, arrows for what they hand on."""

import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.tools.main import main
from trivium.tools.reports.call_graph import graph_text

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[2, 8] x, float[2, 8] z) => (float[2, 8] y, float[2, 8] u) {
        [one] a = MatMul (x, w)
        [two] b = MatMul (a, w)
        [three] y = Add (b, z)
        [four] u = Softmax (a)
    }
""")
NET.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(8, dtype=np.float32), "w"))


def _edges(text: str) -> set[tuple[str, str]]:
    """Return the arrows of a drawing, by the first line of the label at each end."""
    labels = dict(re.findall(r'^  (\w+) \[label="([^"\\]*)', text, re.MULTILINE))
    return {(labels[a], labels[b]) for a, b in re.findall(r"^  (\w+) -> (\w+)", text, re.MULTILINE)}


@pytest.mark.parametrize(
    ("target", "edges"),
    [
        (
            "host",
            {("x", "one"), ("one", "two"), ("two", "three"), ("z", "three"), ("three", "y")}
            | {("one", "four"), ("four", "u")},
        ),
        (
            "cpu",
            {("x", "one"), ("one", "two, three"), ("z", "two, three"), ("two, three", "y")}
            | {("one", "four"), ("four", "u")},
        ),
    ],
)
def test_arrows_are_those_of_the_model(target: str, edges: set[tuple[str, str]]) -> None:
    assert _edges(graph_text(trivium.build(NET, target=target))) == edges


def test_bodies_are_drawn_in_frames() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[3] x, int64 m, bool b) => (float[3] y) {
            [choose] y = If (b) <
                then_branch = A () => (float[3] p) {
                    [repeat] p = Loop (m, , x) <body = B (int64 i, bool c, float[3] h)
                            => (bool go, float[3] g) {
                        go = Identity (c)
                        [twice] g = Add (h, x)
                    }>
                },
                else_branch = C () => (float[3] q) { [exp] q = Exp (x) }
            >
        }
    """)
    text = graph_text(trivium.build(model))
    edges = {(a.rpartition("/")[2], b.rpartition("/")[2]) for a, b in _edges(text)}
    assert edges == {
        ("x", "choose"), ("m", "choose"), ("b", "choose"), ("choose", "y"),
        ("x", "repeat"), ("m", "repeat"), ("repeat", "twice"), ("x", "twice"),
        ("twice", "repeat"), ("repeat", "choose"), ("x", "exp"), ("exp", "choose"),
    }  # fmt: skip
    frames = re.findall(r'^  label="(\w+)";|^  c\d+ \[label="([^"\\]*)|^  (})$', text, re.MULTILINE)
    assert ["".join(each).rpartition("/")[2] for each in frames] == [
        "choose", "then", "repeat", "body", "twice", "}", "}", "otherwise", "exp", "}",
    ]  # fmt: skip


def test_sizes_that_may_change_and_kept_values_are_shown() -> None:
    free = onnx.ModelProto()
    free.CopyFrom(NET)
    for port in (*free.graph.input, *free.graph.output):
        port.type.tensor_type.shape.dim[0].dim_param = "N"
    text = graph_text(trivium.build(free, keep="a"))
    assert 'label="f32 Nx8"' in text
    assert 'label="a (kept)"' in text


def test_command_writes_text(tmp_path: Path) -> None:
    model, package, out = (tmp_path / name for name in ("net.onnx", "net.trv", "net.dot"))
    onnx.save(NET, model)
    trivium.build(NET).save(package)
    for source in (model, package):
        assert main(["graph", str(source), "-o", str(out)]) == 0
        assert out.read_text() == graph_text(trivium.build(NET))


def test_pictures_need_graphviz(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, out = tmp_path / "net.onnx", tmp_path / "net.svg"
    onnx.save(NET, model)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert main(["graph", str(model), "-o", str(out)]) == 1
    assert "needs the program 'dot': install graphviz, or write .dot" in capsys.readouterr().err
    assert main(["graph", str(model), "-o", str(tmp_path / "net.png")]) == 2
    assert "must end in .dot or .svg" in capsys.readouterr().err
