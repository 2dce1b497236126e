"""Whatever a manifest with expressions says, it is refused in one line or stays in its memory."""

import copy
import json
import random
from typing import Any

import numpy as np
import pytest
from trivium.runtime import RunError, Session
from trivium.runtime.errors import PackageError
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.test.unit.runtime.symbolic import DIALECTS, feeds, symbolic_manifest

SEEDS = 600

TEXTS: list[Any] = [
    *("", "N", "T", "T_16", "K", "at_0", "at_1", "at_2", "N - T", "-N", "T*T*T*T*T*T", "N//0"),
    *("16*T_16 + 4", "1 << N", "N; T", "max(N)", "max(N, at_1)", "2", "-1", "N" * 5000, "(" * 99),
    *(None, True, -1, 0, 1, 5, 1 << 31, 1 << 63, 2.5, "x", [], {}, [0], ["N"], [1 << 40] * 2),
]


def places(document: Any) -> list[tuple[Any, Any]]:
    if not isinstance(document, dict | list):
        return []
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    return [(document, key) for key in keys] + [p for key in keys for p in places(document[key])]


def mutated(seed: int) -> str:
    """Return the text of the manifest with some values replaced, swapped, repeated or deleted."""
    document = json.loads(symbolic_manifest().to_json())
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        parent, key = chance.choice(places(document))
        other, where = chance.choice(places(document))
        match chance.choice(("text", "text", "text", "copy", "cut", "delete", "repeat")):
            case "text":
                parent[key] = copy.deepcopy(chance.choice(TEXTS))
            case "copy":
                parent[key] = copy.deepcopy(other[where])
            case "cut" if isinstance(parent[key], str):
                at = chance.randint(0, len(parent[key]))
                parent[key] = parent[key][:at] + chance.choice(["", "+", "*9", "(", " N"])
            case "repeat" if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[key]))
            case _:
                del parent[key]
    return json.dumps(document)


def package_of(text: str) -> Package:
    return Package.create(Manifest.from_json(text), {})


def test_mutated_manifests_are_refused_in_one_line_or_run_in_their_memory():
    ran = 0
    errors: list[str] = []
    for seed in range(SEEDS):
        try:
            session = Session(package_of(mutated(seed)), DIALECTS)
        except (PackageError, RunError) as error:
            errors.append(str(error))
            continue
        ran += run(session)
    assert not any("\n" in error for error in errors)
    assert len(errors) > SEEDS / 3
    assert ran > SEEDS / 50


def run(session: Session) -> int:
    """Run at several sizes: references may fail as they like, the runtime says why in one line."""
    done, errors, notes = 0, list[str](), list[str]()
    for size in [(1, 16), (3, 48), (2, 0), (1, 512)]:
        with np.errstate(all="ignore"):
            try:
                session.run(feeds(*size))
                done = 1
            except (PackageError, RunError) as error:
                errors.append(str(error))
            except (TypeError, ValueError, IndexError) as error:
                notes.append("".join(getattr(error, "__notes__", ())))
    assert not any("\n" in error for error in errors)
    assert all("in host step" in note for note in notes)
    return done


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 12}, "'inputs[0].shape[0]' is a string, must be an integer"),
        ({"symbols": []}, "'version' is 13, must be 12 with 0 symbols"),
        ({"regions": [{"base": 1, "size": 1, "above": []}]}, "'regions[0].base' is 1, must be an"),
        ({"regions": [{"base": 0, "size": 1, "above": [0]}]}, "'regions[0].above' has 0, must be"),
        ({"checks": [{"expression": "N", "relation": ">", "node": "", "message": ""}]}, "'>=' or"),
        (
            {"named_sizes": [{"name": "at_1", "expression": 1}]},
            "'named_sizes[0].name' is 'at_1', must",
        ),
        ({"named_sizes": [{"name": "T_16", "expression": 1}]}, "is 'T_16', which is another size"),
        ({"named_sizes": [{"name": "a", "expression": 1}] * 2}, "'named_sizes[1].name' is 'a', wh"),
        ({"load_steps": "steps"}, "'load_steps[2].sizes.shape[0]' is a text, but inputs are not"),
    ],
)
def test_what_is_not_sound_is_named(change: dict[str, Any], message: str):
    document = json.loads(symbolic_manifest().to_json())
    for key, value in change.items():
        document[key] = document[value] if value == "steps" else value
    with pytest.raises(PackageError) as caught:
        package_of(json.dumps(document))
    assert message in str(caught.value)


SYMBOL = {"name": "N", "low": 1, "high": None, "likely": 2, "step": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "at_3"}, "'symbols[0].name' is 'at_3', must look like 'T'"),
        ({"name": "max"}, "'symbols[0].name' is 'max', must look like 'T'"),
        ({"name": "T"}, "must have different names"),
        ({"name": "T_16"}, "must have different names"),
        ({"name": "K"}, "symbol 'K' is the size of no axis of an input"),
        ({"low": 3}, "'symbols[0]' is from 3 to None, likely 2: must be in this order"),
        ({"high": 1}, "'symbols[0]' is from 1 to 1, likely 2: must be in this order"),
        ({"step": 0}, "'symbols[0].step' is 0, must be at least 1"),
        ({"high": "2"}, "'symbols[0].high' is a string, must be an integer or null"),
        ({"likely": 4}, "'memory.arena_bytes' is 768, the regions of base 0 have 1536 bytes"),
    ],
)
def test_symbols_that_are_not_sound_are_named(change: dict[str, Any], message: str):
    document = json.loads(symbolic_manifest().to_json())
    document["symbols"][0] |= change
    with pytest.raises(PackageError) as caught:
        package_of(json.dumps(document))
    assert message in str(caught.value)


def test_a_symbol_must_be_the_size_of_an_axis():
    document = json.loads(symbolic_manifest().to_json())
    document["symbols"].append(SYMBOL | {"name": "K"})
    with pytest.raises(PackageError, match="symbol 'K' is the size of no axis of an input"):
        package_of(json.dumps(document))
