"""What is shipped, and what importing it costs."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NOT_SHIPPED = {".venv", "build", "docs", "test"}
TEMPLATE = Path("tools/template")  # data: a package to be written under another name
START = re.compile(r"[Ss]tart(\s+reading)?\s+(at|with)\s+`|start\s+reading")


def test_the_wheel_holds_every_package() -> None:
    inits = (path.relative_to(ROOT).parent for path in ROOT.rglob("__init__.py"))
    kept = [p for p in inits if not {*p.parts} & NOT_SHIPPED and TEMPLATE not in p.parents]
    mapped = PROJECT["tool"]["setuptools"]["package-dir"]
    elsewhere = {Path(folder): name for name, folder in mapped.items()}
    packages = [elsewhere.get(p, ".".join(("trivium", *p.parts))) for p in kept]
    assert PROJECT["tool"]["setuptools"]["packages"] == sorted(packages)


def test_the_docstring_of_a_package_names_where_to_start_reading() -> None:
    inits = [ROOT / "__init__.py", *ROOT.glob("*/**/__init__.py")]
    own = [p for p in inits if not {*p.relative_to(ROOT).parts} & NOT_SHIPPED]
    own = [p for p in own if TEMPLATE not in p.relative_to(ROOT).parents]
    lacking = {p.parent for p in own if not START.search(docstring(p))}
    assert not {str(p.relative_to(ROOT)) for p in lacking}


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def test_no_module_outside_of_a_package() -> None:
    bare = {p.parent for p in ROOT.glob("*/**/*.py") if not (p.parent / "__init__.py").exists()}
    shipped = {p.relative_to(ROOT) for p in bare}
    outside = {p for p in shipped if p.parts[0] not in NOT_SHIPPED}
    assert {p for p in outside if TEMPLATE not in p.parents} == set()


def test_the_wheel_holds_the_template() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    assert data["trivium.tools"] == [f"{TEMPLATE.name}/**"]


@pytest.mark.parametrize("folder", ["runtime/c", "compiler/library"])
def test_the_wheel_holds_sources_in_c(folder: str) -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    patterns = data[f"trivium.{folder.replace('/', '.')}"]
    files = (path for path in (ROOT / folder).iterdir() if path.is_file())
    sources = {path for path in files if not path.suffix.startswith(".py")}
    assert sources == {path for pattern in patterns for path in (ROOT / folder).glob(pattern)}


def test_every_target_is_kept_from_the_others() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    named = {contract["name"]: contract for contract in contracts}
    independent = named["targets do not know one another"]["modules"]
    folders = {path.parent.name for path in (ROOT / "targets").glob("*/__init__.py")}
    shared = {"costs", "kernels", "memory", "placement", "program"}  # which targets import
    targets = sorted(folders - shared)
    assert independent == [f"trivium.targets.{name}" for name in targets]
    assert named["the kernel framework knows no target"]["forbidden_modules"] == independent


def test_numpy_is_the_only_dependency_of_the_base_install() -> None:
    assert PROJECT["project"]["dependencies"] == ["numpy"]


def test_extras_that_texts_name_exist() -> None:
    texts = [path for end in ("py", "md") for path in ROOT.glob(f"*/**/*.{end}")]
    texts = [path for path in texts if not {*path.relative_to(ROOT).parts} & {".venv", "test"}]
    named = re.compile(r"(?:trivium|'\.)\[([a-z]+)\]")
    found = {
        extra for path in [*texts, ROOT / "README.md"] for extra in named.findall(path.read_text())
    }
    assert {"compile", "gpu", "torch"} <= found
    assert found <= {*PROJECT["project"]["optional-dependencies"]}


@pytest.mark.parametrize("target", PROJECT["project"]["scripts"].values())
def test_scripts_exist(target: str) -> None:
    module, function = target.split(":")
    assert callable(getattr(import_module(module), function))


def test_importing_the_package_costs_nothing() -> None:
    heavy = ["numpy", "torch_mlir", "onnx", "torch", "triton", "rich"]
    script = (
        "import sys, time; start = time.process_time(); import trivium;"
        "print(time.process_time() - start);"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    run = [sys.executable, "-c", script]
    outputs = [subprocess.check_output(run, text=True).splitlines() for _ in range(3)]
    assert min(float(seconds) for seconds, _ in outputs) < 0.05
    assert {modules for _, modules in outputs} == {"[]"}
