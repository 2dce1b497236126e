"""Run the lit tests from a bare checkout: only the packages of the environment are needed."""

import atexit
import os
import shutil
import sys
import tempfile
import tomllib
from importlib.util import find_spec
from pathlib import Path

import lit.formats

root = Path(__file__).resolve().parent.parent
site = Path(tempfile.mkdtemp(prefix="trivium-lit-"))
atexit.register(shutil.rmtree, site, ignore_errors=True)
(site / "trivium").symlink_to(root, target_is_directory=True)

config.name = "trivium"
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "models"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(root / "test")
config.test_exec_root = str(site / "out")
config.environment["PYTHONPATH"] = str(site)
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
config.available_features.update(
    name for name in ("onnx", "torch", "triton") if find_spec(name) is not None
)

# The tools by their names, as the checkout has them, whether installed or not.
scripts = tomllib.loads((root / "pyproject.toml").read_text())["project"]["scripts"]
for name, target in scripts.items():
    command = f"{sys.executable} -m {target.partition(':')[0]}"
    config.substitutions.append((rf"(?<![\w./-]){name}(?![\w./-])", command))
filecheck = shutil.which("FileCheck") or f"{sys.executable} -m filecheck"
config.substitutions.append((r"\bFileCheck\b", filecheck))
