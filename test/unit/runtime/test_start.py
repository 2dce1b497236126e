"""What a new process imports until a package has run: most of the time of a small model."""

import json
import os
import subprocess
import sys

import onnx.parser
import pytest
import trivium

SIZES = {"static": "2", "symbolic": "N"}

# Without site, which imports what it likes; what numpy imports is there before.
PROGRAM = """
import json, sys
import numpy as np
before = set(sys.modules)
import trivium
session = trivium.load(sys.argv[1], threads=1)
assert session.run({"x": np.zeros(2, np.float32)})["y"].tolist() == [1, 1]
imported = sorted(set(sys.modules) - before)
from dataclasses import is_dataclass
from trivium.runtime.frozen import Frozen
generated = sorted(
    item.__name__
    for name in imported if name.startswith("trivium.")
    for item in vars(sys.modules[name]).values()
    if isinstance(item, type) and item.__module__ == name
    and is_dataclass(item) and not issubclass(item, Frozen)
)
print(json.dumps([imported, generated]))
"""

SLOW = {"pathlib", "urllib", "ipaddress", "subprocess", "tempfile", "uuid", "zipfile", "ml_dtypes"}
OTHER_KINDS = {"branch", "copy", "dla", "find", "gpu", "host", "loop"}
FOR_REPORTS = {"cpu.report", "report", "spelling"}
FOR_FILES = {f"file.{n}" for n in ("atomic_file", "ed25519", "external", "signature", "state_file")}
FOR_LARGE = {"observe.calls", "observe.weights_read"}
FOR_STATE = {"carried.growing", "carried.pairs"}
FOR_STAGES = {"plans.staged", "sizes.exact_checks", "sizes.stage_checks"}
FOR_SYMBOLS = {"sizes.evaluation", "sizes.formulas", "sizes.symbol_checks"}


@pytest.fixture(scope="module", params=SIZES)
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Return the kind of a package, what a process that runs it imports, and its dataclasses."""
    path, size = tmp_path_factory.mktemp("start") / "m.trv", SIZES[request.param]
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]>'
        f"g (float[{size}] x) => (float[{size}] y) {{ y = Exp (x) }}"
    )
    trivium.build(model).save(path)
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, str(path)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    imported, generated = json.loads(done.stdout)
    return request.param, set(imported), generated


def test_a_run_imports_no_more_of_the_runtime_than_it_needs(started):
    sizes, imported, _ = started
    prefix = "trivium.runtime."
    names = {name.removeprefix(prefix) for name in imported if name.startswith(prefix)}
    assert not names & (OTHER_KINDS | FOR_REPORTS | FOR_FILES | FOR_LARGE | FOR_STATE | FOR_STAGES)
    assert names & FOR_SYMBOLS == (FOR_SYMBOLS if sizes == "symbolic" else set())


def test_a_run_imports_nothing_else_of_ours(started):
    _, imported, _ = started
    ours = {name for name in imported if name.startswith("trivium.")}
    assert {name for name in ours if not name.startswith("trivium.runtime")} == {"trivium.version"}


def test_a_run_imports_no_slow_module(started):
    _, imported, _ = started
    assert not imported & SLOW


def test_code_is_generated_for_classes_of_kinds_alone(started):
    _, _, generated = started
    assert generated == ["CpuPart", "CpuStep", "Step"]
