"""The generated pages: complete, the same on every machine, and fresh in the repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trivium.dialects import tri
from trivium.dialects.core.op import OPS
from trivium.passes.core import PASSES
from trivium.tools import generate_docs
from trivium.tools.dialect_stubs import dialect_stubs

PAGES = generate_docs.pages()


def test_all_pages_are_written(tmp_path: Path) -> None:
    assert generate_docs.main([str(tmp_path)]) == 0
    assert {page.name: page.read_text() for page in tmp_path.iterdir()} == PAGES


def test_the_pages_in_the_repository_are_fresh() -> None:
    kept = {page.name: page.read_text() for page in generate_docs.DOCS.iterdir()}
    stale = [name for name in sorted({*kept, *PAGES}) if kept.get(name) != PAGES.get(name)]
    assert not stale, f"run `make docs` and commit docs/generated; these pages differ: {stale}"


def test_the_stubs_in_the_repository_are_fresh() -> None:
    stale = [str(path) for path, text in dialect_stubs().items() if path.read_text() != text]
    assert not stale, f"run `make docs` and commit the stubs; these differ: {stale}"


OPTIONAL = ("onnxruntime", "pnnx", "rich", "torch", "triton")
ELSEWHERE = f"""
import sys
sys.modules.update(dict.fromkeys({OPTIONAL}))  # importing one of these fails
from pathlib import Path
from trivium.dialects.core import machine
machine.Path = None  # the CPU is not looked at
from trivium.tools.generate_docs import main
main(["pages"])
"""


def test_the_pages_depend_on_the_source_alone(tmp_path: Path) -> None:
    info = tmp_path / "npu-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: npu\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[trivium.targets]\nnpu = npu.target\n")
    (tmp_path / "npu").mkdir()
    (tmp_path / "npu" / "packets.py").touch()
    environment = {**os.environ, "PYTHONHASHSEED": "7", "LANG": "C", "COLUMNS": "40"}
    command = [sys.executable, "-c", ELSEWHERE]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert {page.name: page.read_text() for page in (tmp_path / "pages").iterdir()} == PAGES


def test_all_ops_and_passes_are_listed() -> None:
    assert all(f"### `{name}`" in PAGES["ops.md"] for name in OPS if name.startswith("tri."))
    shipped = [n for n, cls in PASSES.items() if cls.__module__.startswith("trivium.")]
    assert all(f"### `{name}`" in PAGES["passes.md"] for name in shipped)


def test_the_support_table_says_how_each_op_runs() -> None:
    rows = [row.strip("| ").split(" | ") for row in PAGES["support.md"].splitlines()]
    ways = {row[0].strip("`"): row[1:] for row in rows if row[0].startswith("`tri.")}
    (targets,) = (row[1:] for row in rows if row[0] == "op")
    assert {name for name in OPS if name.startswith("tri.")} - set(ways) == {
        "tri.group",
        "tri.yield",
    }
    exp, conv = (dict(zip(targets, ways[f"tri.{name}"], strict=True)) for name in ("exp", "conv"))
    assert (exp["cpu"], exp["gpu"], exp["host"]) == ("elementwise", "elementwise", "numpy")
    assert (conv["cpu"], conv["host"]) == ("template", "numpy")
    assert set(ways["tri.reshape"]) == {"free"}


def test_onnx_operators_are_listed_with_their_versions() -> None:
    assert "| `Reshape` | 5 |" in PAGES["support.md"]
    assert "| `Softmax` | 1, 13 |" in PAGES["support.md"]


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (tri.Relu, "tri.relu(x) -> y"),
        (tri.Weight, "tri.weight(name: str, type: Tensor) -> y"),
        (tri.Constant, "tri.constant(value: Array) -> y"),
        (tri.Concat, "tri.concat(xs*; axis: int) -> y"),
        (tri.Yield, "tri.yield(outputs*)"),
        (tri.Group, "tri.group(inputs*; target: str = '', body: region) -> outputs*"),
        (
            tri.Conv,
            "tri.conv(x, w, b?; strides: tuple[int, ...], pads: tuple[int, ...], "
            "dilations: tuple[int, ...], group: int = 1) -> y",
        ),
    ],
)
def test_signatures(cls: type, expected: str) -> None:
    assert generate_docs.signature(cls) == expected


def test_machines_are_listed_with_what_each_adds() -> None:
    rows = [row for row in PAGES["machines.md"].splitlines() if row.startswith("| `")]
    names = [row.split("`")[1] for row in rows]
    assert names[:5] == ["native", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"]
    assert rows[4].endswith("| 64 bytes | 32 | avx512f avx512bw avx512cd avx512dq avx512vl |")
    assert names[5:] == ["generic", "armv8-a", "armv8.2-a", "sve-256", "armv7-neon", "rv64gcv"]
    assert rows[6].endswith("| 16 bytes | 32 | 2, 2 | 64, 512 | `-march=armv8-a` |")
