"""Whatever a manifest says of loops, it is refused in one line or stays in its memory."""

import copy
import json
import random
from typing import Any

import numpy as np
import pytest
from trivium.compiler.driver import build
from trivium.dialects.core.errors import Invalid
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.compiler.frontends.onnx.control_flow.found_models import model_of

SEEDS = 500

PAIRS = """main (float[1, 3] x, int64 m) => (float[n, 3] y, float[k, 3] t, float[p, 3] z) {
    y, t, z = Loop (m, , x, x, x) <body = each
            (int64 i, bool c, float[a, 3] h, float[d, 3] g, float[q, 3] r)
            => (bool go, float[b, 3] h2, float[e, 3] g2, float[s, 3] r2) {
        go = Identity (c)  new = Neg (x)  h2 = Concat <axis = 0> (h, new)  g2 = Identity (h)
        found = NonZero (g)  row = Slice (found, a0, a1)  places = Squeeze (row, a0)
        more = Gather (g, places)  r2 = Concat <axis = 0> (r, more)
    }>
}"""


@pytest.fixture(scope="module")
def package() -> Package:
    return build(model_of(PAIRS), target="host")


def places(document: Any) -> list[tuple[Any, Any]]:
    """Return the places of all that describes the memory of loops."""
    if not isinstance(document, dict | list):
        return []
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    return [(document, key) for key in keys] + [p for key in keys for p in places(document[key])]


def mutated(text: str, seed: int) -> str:
    """Return the text of a manifest with some values of its memory or its loop replaced."""
    document = json.loads(text)
    chance = random.Random(seed)
    (loop,) = (step for step in document["steps"] if step["kind"] == "loop")
    parts = [document[name] for name in ("buffers", "regions", "carried_arenas", "symbols")]
    parts += [loop[name] for name in ("carried", "carried_sizes", "finds", "body", "first")]
    parts = [part for part in (*parts, loop) if part]
    for _ in range(chance.randint(1, 2)):
        parent, key = chance.choice(places(chance.choice(parts)))
        known, where = chance.choice(places(chance.choice(parts)))
        if type(parent[key]) is int and chance.random() < 0.6:
            parent[key] = chance.choice((0, 1, 2, 64, *range(3, 16)))
        elif type(parent[key]) is type(known[where]):
            parent[key] = copy.deepcopy(known[where])
        elif isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))
        else:
            parent[key] = chance.choice(("u0", "u1", "u0 + 7", "at_1", 0, 5, []))
    return json.dumps(document)


def test_mutated_loops_are_refused_in_one_line_or_run_in_their_memory(package: Package) -> None:
    text, ran = package.manifest.to_json(), 0
    errors, notes = list[str](), list[str]()
    for seed in range(SEEDS):
        try:
            manifest = Manifest.from_json(mutated(text, seed))
            session = Session(Package.create(manifest, package.entries))
        except (PackageError, RunError) as error:
            errors.append(str(error))
            continue
        for count in (3, 0):
            try:
                session.run({"x": np.ones((1, 3), np.float32), "m": np.array(count)})
                ran += 1
            except (PackageError, RunError) as error:
                errors.append(str(error))
            except (TypeError, ValueError, IndexError, AttributeError, Invalid) as error:
                notes.append("".join(getattr(error, "__notes__", ())))
    assert all("in host step" in note for note in notes)
    assert not any("\n" in error for error in errors)
    assert len(errors) > SEEDS / 3
    assert ran > SEEDS / 50
