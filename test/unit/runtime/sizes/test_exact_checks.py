"""Programs for exact sizes are sound, and stand for that of all sizes; else one line says why."""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trivium.runtime import Package, PackageError, RunError, Session
from trivium.runtime.contents import ARENA
from trivium.runtime.manifest import Manifest
from trivium.test.unit.runtime.sizes.test_symbolic_fuzz import TEXTS, places, run
from trivium.test.unit.runtime.symbolic import DIALECTS, EXACT, exact_manifest, expected, feeds

SEEDS = 150


def package(text: str) -> Package:
    return Package.create(Manifest.from_json(text), {"notes": b"kept"})


def document(only_exact: bool = False) -> Any:
    made = package(exact_manifest(only_exact).to_json())
    return json.loads(made.manifest.to_json())


def assert_runs(session: Session, n: int, t: int) -> None:
    results, wanted = session.run(feeds(n, t)), expected(n, t)
    for name, array in wanted.items():
        np.testing.assert_array_equal(results[name], array)


@pytest.mark.parametrize("only_exact", [False, True])
def test_programs_are_chosen_by_the_shapes_of_inputs(only_exact: bool):
    session = Session(package(exact_manifest(only_exact).to_json()), DIALECTS)
    for sizes in (*EXACT, *EXACT):
        assert_runs(session, sizes["N"], sizes["T"])
    assert len(session._exact.opened) == 2
    if only_exact:
        with pytest.raises(RunError, match="has no program for N=3, T=48, it has: N=2, T=32; N=1"):
            session.run(feeds(3, 48))
        with pytest.raises(RunError, match="T is 528, the package was compiled for 0 to 512"):
            session.run(feeds(1, 528))
    else:
        assert_runs(session, 3, 48)
    assert session._bases.arrays[ARENA].size == (0 if only_exact else 2048)


def test_the_text_has_all_of_it():
    for only_exact in (False, True):
        manifest = exact_manifest(only_exact)
        assert Manifest.from_json(manifest.to_json()) == manifest


SHELL = "must be empty where 'only_exact' is true"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["exact"][1].update(sizes={"N": 2, "T": 32}), "'exact[1].sizes' are N=2, T=32"),
        (lambda d: d["exact"][0].update(sizes={"N": 2}), "'exact[0].sizes' are of N, must be of"),
        (lambda d: d["exact"][0].update(sizes={"N": 2, "K": 1}), "'exact[0].sizes' are of K, N"),
        (lambda d: d["exact"][0]["sizes"].update(T=31), "'exact[0].sizes': T is 31, must be a mul"),
        (lambda d: d["exact"][0]["sizes"].update(T=528), "'exact[0].sizes': T is 528, the package"),
        (lambda d: d["exact"][0]["sizes"].update(T=0), "error: 'toy.halves' op has no elements at"),
        (lambda d: d["exact"][0]["sizes"].update(T="1"), "'exact[0].sizes.T' is a string, must be"),
        (lambda d: d["exact"][0]["sizes"].update(N=3), "'exact[0].manifest.inputs' are [('x', "),
        (lambda d: d["exact"][0].pop("sizes"), "'exact[0].sizes' is missing"),
        (lambda d: d["exact"][0].update(size=1), "'exact[0].size' is unknown; known are sizes, ma"),
        (lambda d: d.update(exact={}), "'exact' is an object, must be a list"),
        (lambda d: d["exact"].append(1), "'exact[2]' is an integer, must be an object"),
        (
            lambda d: d["exact"][0]["manifest"].update(version=13),
            "exact[0]: 'version' is 13, must be",
        ),
        (
            lambda d: d["exact"][0]["manifest"]["inputs"][0].update(shape=["N", 2]),
            "exact[0]: 'inputs[0].shape[0]' is a string, must be an integer",
        ),
        (
            lambda d: d["exact"][0]["manifest"].update(exact=[]),
            "exact[0]: 'exact' must be left out of a program for exact sizes",
        ),
        (
            lambda d: d["exact"][0]["manifest"]["buffers"][4].update(offset=1 << 20),
            "exact[0]: 'buffers[4]' ends at byte",
        ),
        (
            lambda d: d["exact"][1]["manifest"]["inputs"][0].update(name="k"),
            "'exact[1].manifest.inputs' are [('k', ",
        ),
        (
            lambda d: d["exact"][0]["manifest"].update(
                entries=[{"name": "cpu/a.o", "size": 4, "checksum": "sha256:0"}]
            ),
            "'exact[0].manifest.entries[0]' is 'cpu/a.o', whose bytes are not stored",
        ),
        (lambda d: d.update(exact=[], only_exact=True), "'only_exact' is true, must have programs"),
        (lambda d: d.update(only_exact=True), f"'steps' {SHELL}"),
    ],
)
def test_programs_that_are_not_sound_are_named(change: Callable[[Any], None], message: str):
    text = document()
    change(text)
    with pytest.raises(PackageError) as caught:
        package(json.dumps(text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_package_of_numbers_has_no_programs_for_exact_sizes():
    text = document()
    static = text["exact"][0]["manifest"] | {"exact": text["exact"]}
    with pytest.raises(PackageError, match="'exact' must be left out unless inputs give the sizes"):
        package(json.dumps(static))


def test_entries_are_found_by_their_checksums():
    text = document(only_exact=True)
    (entry,) = text["entries"]
    for program in text["exact"]:
        program["manifest"]["entries"] = [entry | {"name": "another/name"}]
    made = package(json.dumps(text))
    for each in made.exact:
        assert {name: bytes(data) for name, data in each.entries.items()} == {
            "another/name": b"kept"
        }


def mutated(seed: int) -> str:
    chance = random.Random(seed)
    text = document(only_exact=bool(seed % 2))
    inside = [(d, k) for d, k in places(text) if d is not text or k in ("exact", "only_exact")]
    for _ in range(chance.randint(1, 2)):
        parent, key = chance.choice(inside)
        other, where = chance.choice(inside)
        new = other[where] if where in other or isinstance(other, list) else None
        parent[key] = copy.deepcopy(chance.choice([new, *chance.choices(TEXTS, k=2)]))
    return json.dumps(text)


def test_mutated_programs_are_refused_in_one_line_or_run_in_their_memory():
    ran = 0
    errors: list[str] = []
    notes: list[str] = []
    for seed in range(SEEDS):
        try:
            session = Session(package(mutated(seed)), DIALECTS)
        except (PackageError, RunError) as error:
            errors.append(str(error))
            continue
        ran += run(session)
        for sizes in EXACT:
            try:
                session.run(feeds(sizes["N"], sizes["T"]))
            except (PackageError, RunError) as error:
                errors.append(str(error))
            except (TypeError, ValueError, IndexError) as error:
                notes.append("".join(getattr(error, "__notes__", ())))
    assert not any("\n" in error for error in errors)
    assert all("in host step" in note for note in notes)
    assert len(errors) > SEEDS / 3
    assert ran > SEEDS / 50
