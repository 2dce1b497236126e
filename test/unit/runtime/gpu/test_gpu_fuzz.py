"""Whatever a manifest says that passes the checks, nothing on the GPU is touched out of bounds."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.file import archive
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import package
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn


def touch(run: Run) -> None:
    """Read and write all that a kernel may."""
    for array in run.arrays:
        np.copyto(array, array.copy())


def numbers(document: Any) -> list[tuple[Any, Any]]:
    """Return where the whole numbers are that say what is where, and how large."""
    items: list[tuple[Any, Any]] = []
    if isinstance(document, dict):
        items = [(document, key) for key in document if key != "version"]
    elif isinstance(document, list):
        items = [(document, key) for key in range(len(document))]
    here = [(parent, key) for parent, key in items if type(parent[key]) is int]
    return here + [found for parent, key in items for found in numbers(parent[key])]


def nudged(document: Any, seed: int) -> Any:
    """Change some numbers a little."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        parent, key = chance.choice(numbers(document))
        parent[key] += chance.choice((-128, -16, -4, -1, 1, 4, 16, 128))
    return document


def attempt(made: Package, stand_in: StandIn) -> None:
    stand_in.execute(made, touch)
    feeds = {p.name: np.zeros(p.shape, p.dtype) for p in made.manifest.inputs}
    with Session(made, device=stand_in.device()) as session:
        for _ in range(2):
            session.run(feeds)
        session.replay().launch()


def assert_one_line(error: Exception) -> None:
    assert "\n" not in str(error)


@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 1 << 30), st.booleans())
def test_a_forged_package_runs_within_bounds(
    forge: Callable[[Any, int], Any], stand_in: StandIn, tmp_path: Path, seed: int, odd: bool
):
    sound = package()
    document = (forge if odd else nudged)(json.loads(sound.manifest.to_json()), seed)
    path = tmp_path / "forged.trv"
    text = memoryview(json.dumps(document).encode())
    with open(path, "wb") as file:
        archive.write(file, {"manifest.json": text, **sound.entries})
    try:
        attempt(Package.open(path), stand_in)
    except (PackageError, RunError) as error:
        assert_one_line(error)
    assert stand_in.misuses == []
    assert stand_in.errors == []
