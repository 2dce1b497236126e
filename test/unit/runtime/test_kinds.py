"""Kinds that other distributions bring, and spellings of kinds that import nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from trivium.runtime.contents import Part
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.errors import PackageError
from trivium.runtime.manifest import Manifest
from trivium.runtime.memory_space import PackageMemory
from trivium.runtime.step import Step

# A memory whose queue does nothing before it is waited for, and a step that adds in it.
TOY = '''
import ctypes
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from trivium.runtime.memory_space import PackageMemory, SessionMemory
from trivium.runtime.step import Step


class ToyMemory(PackageMemory):
    kind: ClassVar[str] = "toy"

    def __init__(self, loader, space):
        self.weights = np.frombuffer(loader.entries[space.weights_entry], np.uint8).copy()
        self.arena_bytes = space.arena_bytes

    def open(self, contents, in_process):
        return ToySession(self.weights, self.arena_bytes, contents.bases_in("toy"))


class ToySession(SessionMemory):
    def __init__(self, weights, arena_bytes, bases):
        self.memory = np.zeros(arena_bytes, np.uint8), weights
        self.addresses = {b: m.ctypes.data for b, m in zip(bases, self.memory, strict=True)}
        self.queue = []

    def copy(self, target, source, size):
        self.queue.append(partial(ctypes.memmove, target.address, source.address, size))

    def synchronize(self):
        for work in self.queue:
            work()
        self.queue = []


@dataclass(frozen=True, kw_only=True)
class AddStep(Step):
    """Add two vectors and a number."""

    kind: ClassVar[str] = "toy"
    space: ClassVar[str] = "toy"

    bias: float

    def run(self, state):
        state.spaces["toy"].queue.append(partial(self.add, state.bases))

    def add(self, bases):
        x, w, y = (array(bases.place(i).address) for i in (*self.operands, *self.results))
        y[:] = x + w + np.float32(self.bias)


def array(address):
    return np.ctypeslib.as_array((ctypes.c_float * 4).from_address(address))
'''

ENTRY_POINTS = """
[trivium.steps]
toy = my_toy:AddStep
[trivium.memory_spaces]
toy = my_toy:ToyMemory
"""

SAVE = """
import numpy as np
from my_toy import AddStep
from trivium.runtime.contents import FIRST_PORT, Buffer, Memory, MemorySpace, Port
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package

bases = (FIRST_PORT, FIRST_PORT + 1, FIRST_PORT + 2, FIRST_PORT + 3, FIRST_PORT + 2)
buffers = [Buffer("", base, 16 * (n == 4), (4,), "float32") for n, base in enumerate(bases)]
manifest = Manifest(
    producer="test",
    source="",
    target="toy",
    inputs=(Port("x", (4,), "float32", 0),),
    outputs=(Port("y", (4,), "float32", 1),),
    buffers=tuple(buffers),
    steps=(
        CopyStep(operands=(0,), results=(2,)),
        AddStep(operands=(2, 3), results=(4,), bias=0.5),
        CopyStep(operands=(4,), results=(1,)),
    ),
    memory=Memory(0, 0, 0),
    spaces=(MemorySpace("toy", 32, 32, 16),),
)
weights = np.array([1, 2, 3, 4], np.float32).tobytes()
Package.create(manifest, {"toy/weights.bin": weights}).save("toy.trv")
"""

LOAD = """
import numpy as np
import trivium
try:
    session = trivium.load("toy.trv")
except trivium.PackageError as error:
    print(error)
else:
    for run in (session, session.clone()):
        print(run(np.array([10, 20, 30, 40], np.float32)).tolist())
"""


def install(site: Path, name: str = "my_toy", entry_points: str = ENTRY_POINTS) -> None:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


def python(folder: Path, script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder with a distribution and a package that needs it."""
    (tmp_path / "my_toy.py").write_text(TOY)
    install(tmp_path)
    python(tmp_path, SAVE)
    return tmp_path


def test_a_distribution_brings_a_memory_space_and_steps_in_it(site: Path) -> None:
    assert python(site, LOAD) == "[11.5, 22.5, 33.5, 44.5]\n" * 2


def test_without_the_distribution_one_line_names_the_kind(site: Path) -> None:
    (site / "my_toy-1.0.dist-info" / "entry_points.txt").unlink()
    assert python(site, LOAD) == (
        "toy.trv: manifest: 'steps[1].kind': 'toy' is not installed (no entry point of "
        "trivium.steps has this name): install what compiled the package\n"
    )


def test_a_memory_space_that_is_not_installed_is_named(site: Path) -> None:
    points = site / "my_toy-1.0.dist-info" / "entry_points.txt"
    points.write_text(ENTRY_POINTS.partition("[trivium.memory_spaces]")[0])
    (site / "my_toy.py").write_text(TOY.replace('kind: ClassVar[str] = "toy"', "", 1))
    assert python(site, LOAD) == (
        "'toy' is not installed (no entry point of trivium.memory_spaces has this name): "
        "install what compiled the package\n"
    )


def test_a_distribution_that_cannot_be_imported_is_named(site: Path) -> None:
    (site / "my_toy.py").write_text("import a_library_of_its_own")
    assert python(site, LOAD) == (
        "toy.trv: manifest: 'steps[1].kind': 'toy' of my_toy cannot be loaded: No module named "
        "'a_library_of_its_own': install it again\n"
    )


def test_a_kind_that_two_distributions_offer_is_refused(site: Path) -> None:
    install(site, "other_toy")
    message = python(site, LOAD)
    assert message.startswith("toy.trv: manifest: 'steps[1].kind': 'toy' is offered by ")
    assert message.endswith(" (trivium.steps): uninstall all but one\n")
    assert {"my_toy", "other_toy"} <= set(message.split())


ODD = [
    *("../x", "../gpu", "gpu/../dla", "step", "__init__", "test", "os", "os.path", "", "GPU"),
    *("gpu ", "gpu\n", "a\nb", "\0", "x" * 300, "\ud800", "*", "trivium.runtime.gpu"),
]


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("base", [Part, PackageMemory, Step])
def test_a_name_that_is_no_kind_imports_nothing(base: type, kind: str) -> None:
    CpuPart()  # whatever the first lookup imports is there
    with pytest.raises(PackageError):
        Step.of_kind("nothing")
    before = set(sys.modules)
    with pytest.raises(PackageError, match="is not installed") as caught:
        base.of_kind(kind)
    assert set(sys.modules) == before
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["steps", "parts"])
@pytest.mark.parametrize("kind", ODD)
def test_a_manifest_with_such_a_kind_is_refused_in_one_line(
    manifest: Manifest, field: str, kind: str
) -> None:
    document = json.loads(manifest.to_json())
    document[field][0]["kind"] = kind
    with pytest.raises(PackageError, match="is not installed") as caught:
        Manifest.from_json(json.dumps(document))
    assert str(caught.value).startswith(f"manifest: '{field}[0].kind': ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "wanted"), [(3, "an integer"), (None, "null"), ([], "a list"), ({}, "an object")]
)
def test_a_kind_is_a_string(manifest: Manifest, kind: object, wanted: str) -> None:
    document = json.loads(manifest.to_json())
    document["parts"][0]["kind"] = kind
    with pytest.raises(PackageError, match=f"'parts\\[0\\].kind' is {wanted}, must be a string"):
        Manifest.from_json(json.dumps(document))
    del document["parts"][0]["kind"]
    with pytest.raises(PackageError, match=r"'parts\[0\].kind' is missing"):
        Manifest.from_json(json.dumps(document))
