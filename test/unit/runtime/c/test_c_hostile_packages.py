"""What libtrivium says of files that are damaged or forged: an error, and nothing else happens.

All of it runs under the sanitizers of the C compiler, with the file in memory of its size.
"""

import json
import random
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trivium.runtime.contents import Entry, Symbol
from trivium.runtime.cpu.thread_pool import CODE
from trivium.runtime.errors import PackageError
from trivium.runtime.file import archive
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.test.unit.runtime.c.conftest import Answer, OpenAll
from trivium.test.unit.runtime.conftest import scale_manifest
from trivium.test.unit.runtime.cpu.test_elf import FORTY_TWO, Assembly
from trivium.test.unit.runtime.file.test_archive import end, put, weights
from trivium.test.unit.runtime.test_package_fuzz import damage

SYSTEM, PACKAGE, UNSUPPORTED = 1, 2, 3
EDITS = ["flip", "set", "cut", "drop", "double", "move"]


def is_accepted(data: bytes) -> bool:
    """Return whether the runtime in Python opens a package."""
    try:
        Package.open(bytearray(data))  # bytes could be a path
    except PackageError:
        return False
    return True


def outputs(x: np.ndarray) -> str:
    return (x * np.arange(16, dtype=np.float32) + 1).astype(np.float32).tobytes().hex()


def packed(manifest: str, package: Package) -> bytes:
    file = BytesIO()
    text = memoryview(manifest.encode())
    archive.write(file, {"manifest.json": text, **package.entries})
    return file.getvalue()


def test_a_sound_package_runs(scale: Package, sanitized: OpenAll):
    expected = outputs(np.arange(16, dtype=np.float32))
    assert sanitized([scale.to_bytes()] * 2, "run", "3") == [Answer(0, expected)] * 2


def test_a_damaged_file_is_refused_or_the_same(scale: Package, sanitized: OpenAll):
    whole, chance = scale.to_bytes(), random.Random(0)
    damaged: list[bytes] = []
    for _ in range(1000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            places = chance.randrange(1 << 16), chance.randrange(1 << 16), chance.randrange(256)
            damage(data, (chance.choice(EDITS), *places))
        damaged.append(bytes(data))
    same = outputs(np.arange(16, dtype=np.float32))
    answers = sanitized(damaged, "run")
    for data, answer in zip(damaged, answers, strict=True):
        assert answer.status in (0, PACKAGE, UNSUPPORTED)
        assert answer.text == same if answer.status == 0 else answer.text
        assert (answer.status == 0) == is_accepted(data)


def test_every_flipped_bit_of_the_structure_is_harmless(scale: Package, sanitized: OpenAll):
    whole = scale.to_bytes()
    places = [*range(64), *range(whole.index(b"PK\1\2"), len(whole))]
    flipped: list[bytes] = []
    for place in places:
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        flipped.append(bytes(data))
    answers = sanitized(flipped)
    assert [answer.status == 0 for answer in answers] == list(map(is_accepted, flipped))


def test_a_file_that_ends_early_is_refused(scale: Package, sanitized: OpenAll):
    whole = scale.to_bytes()
    cut = [whole[:size] for size in [*range(1, 64), *range(64, len(whole), 97)]]
    for answer in sanitized(cut):
        assert answer.status == PACKAGE
        assert "is truncated" in answer.text or "is not a package" in answer.text


def test_a_forged_manifest_is_refused_or_sound(
    scale: Package, forge: Callable[[Any, int], Any], sanitized: OpenAll
):
    """The checksums are right here, so all depends on the checks."""
    text = scale.manifest.to_json()
    forged = [packed(json.dumps(forge(json.loads(text), seed)), scale) for seed in range(1000)]
    answers = sanitized(forged)
    for data, answer in zip(forged, answers, strict=True):
        assert answer.status == 0 or len(answer.text) > 10
        assert answer.status or is_accepted(data)
    refused = [answer.status for answer in answers]
    assert refused.count(0) > 10
    assert refused.count(PACKAGE) > 700
    assert set(refused) <= {0, SYSTEM, PACKAGE, UNSUPPORTED}


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda data: data.extend(b"more"), "is truncated, or has bytes behind its end: the last"),
        (put("<H", lambda d: end(d) + 20, 5), "disks 0 and 0 and 5 bytes of comment, all must"),
        (put("<H", lambda d: end(d) + 10, 3), "bytes follow its list of entries"),
        (put("<H", lambda d: end(d) + 10, 0xFFFF), "65535 entries do not fit into a list of"),
        (put("<H", lambda d: weights(d) + 28, 999), "reaches to byte"),
        (put("<H", lambda d: weights(d) + 8, 1), "has compression method 0 and flags 0x1, must be"),
        (put("<L", lambda d: weights(d) + 20, 65), "entry 'weights.bin' is of 65 bytes and of 64"),
        (put("<2L", lambda d: weights(d) + 20, 1 << 20, 1 << 20), "'weights.bin' reaches past"),
        (put("<L", lambda d: weights(d) + 42, 0), "'weights.bin' is listed for byte 0, where"),
        (put("<L", lambda d: weights(d) + 42, 0xFFFFFFFF), "'weights.bin' has wide sizes, but not"),
        (put("<L", lambda d: weights(d) + 42, 0xFFFFFFF0), "of 30 bytes at byte 4294967280"),
        (put("<L", lambda d: end(d) + 16, 0xFFFFFFFF), "it has no 'PK' record at byte"),
        (lambda d: d.__setitem__(d.rindex(b"cpu/scale.o"), 27), r"named '\x1bpu/scale.o', a name"),
    ],
)
def test_damage_of_the_container_is_said_as_it_is(
    scale: Package, sanitized: OpenAll, harm: Callable[[bytearray], object], message: str
):
    data = bytearray(scale.to_bytes())
    harm(data)
    (answer,) = sanitized([bytes(data)])
    assert answer.status == PACKAGE
    assert message in answer.text


def test_a_changed_entry_is_said(scale: Package, sanitized: OpenAll):
    whole = scale.to_bytes()
    changed: list[bytes] = []
    for name in ("weights.bin", "cpu/scale.o", CODE):
        data = bytearray(whole)
        data[data.index(bytes(scale.entries[name])) + 9] ^= 4
        changed.append(bytes(data))
    changed.append(whole.replace(b"scale.onnx", b"scald.onnx"))
    names = "weights.bin", "cpu/scale.o", CODE, "manifest.json"
    for name, answer in zip(names, sanitized(changed), strict=True):
        assert answer == Answer(PACKAGE, f"is corrupt: the checksum of '{name}' differs")


ENTRY = scale_manifest()


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"version": 14}, UNSUPPORTED, "'version' is 14, this library reads 12: update the"),
        (
            {"version": 10},
            PACKAGE,
            "'version' is 10, this library reads 12: compile the",
        ),
        ({"version": 13}, UNSUPPORTED, "has sizes that change from run to run, which libtrivium"),
        (
            {"symbols": (Symbol("N", 1, 2, 1),)},
            UNSUPPORTED,
            "has sizes that change from run to run",
        ),
        (
            {"steps": (HostStep(op="tri.\x1btop", nodes=("Top\u00e9",), reason="it is rare"),)},
            UNSUPPORTED,
            r"Top\xc3\xa9: error: 'tri.\x1btop' op is steps[0] of kind 'host', because it is rare",
        ),
        (
            {"memory": replace(ENTRY.memory, arena_bytes=60)},
            PACKAGE,
            "'buffers[3]' of 64 bytes at byte 0 does not fit into base 0, which has 60",
        ),
        ({"memory": replace(ENTRY.memory, weight_bytes=60)}, PACKAGE, "'weights.bin' has 64"),
        ({"entries": ()}, PACKAGE, "has an entry 'cpu/scale.o', which its manifest does not list"),
        ({"strings": ("text",)}, UNSUPPORTED, "the package has text (manifest: 'strings')"),
        (
            {"steps": (replace(ENTRY.steps[0], symbol="segment_9"),)},
            PACKAGE,
            "no object defines 'segment_9'",
        ),
    ],
)
def test_what_a_manifest_asks_for_is_refused_by_name(
    scale: Package, sanitized: OpenAll, change: dict[str, Any], status: int, message: str
):
    (answer,) = sanitized([packed(replace(scale.manifest, **change).to_json(), scale)])
    assert answer.status == status
    assert message in answer.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "manifest: is not JSON: there must be a value at byte 0"),
        ("[" * 100, "manifest: is nested too deep"),
        ('{"format": "trivium"', "is not JSON: there must be a comma or an end at byte 20"),
        ('{"format": "\\ud800"}', "an escape stands for no character at byte 18"),
        ('{"format": "a\x01"}', "a text has a byte that it must not have at byte 13"),
        ('{"format": "trivium", "version": 010}', "is not JSON: there must be a value at byte"),
        ('{"format": "trivium", "version": 10.5}', "'version' must be an integer of 64 bits"),
        ('{"format": "trivium", "version": 1e}', "an exponent must have digits"),
        ("{} {}", "something follows the value at byte 3"),
        ('"\\u0000"', "an escape stands for no character"),
        ("[NaN]", "is not JSON: there must be a value at byte 1"),
        ('{"format": "trivium", "version": 12, "inputs": 1, "inputs": 2}', "must be a list"),
    ],
)
def test_what_is_no_manifest_is_said_with_its_place(
    scale: Package, sanitized: OpenAll, text: str, message: str
):
    (answer,) = sanitized([packed(text, scale)])
    assert answer.status == PACKAGE
    assert message in answer.text


def test_a_field_is_missing_unknown_or_there_twice(scale: Package, sanitized: OpenAll):
    text = scale.manifest.to_json()
    texts = [
        text.replace('"phases":1', '"faces":1'),
        text.replace(',"phases":1', ""),
        text.replace('"phases":1', '"phases":1,"phases":1'),
        text.replace('"phases":1', '"phases":true'),
        text.replace('"shape":[16]', '"shape":[16,"N"]', 1),
    ]
    reasons = [
        "manifest: 'steps[0].faces' is unknown",
        "manifest: 'steps[0].phases' is missing",
        "manifest: 'steps[0].phases' occurs twice in one object",
        "manifest: 'steps[0].phases' must be an integer of 64 bits",
        "manifest: 'inputs[0].shape[1]' must be an integer of 64 bits",
    ]
    answers = sanitized([packed(each, scale) for each in texts])
    assert answers == [Answer(PACKAGE, reason) for reason in reasons]


def with_object(scale: Package, data: bytes) -> bytes:
    """Return the package with one more object, which its manifest vouches for."""
    entries = {**scale.entries, "cpu/z.o": data}
    return Package.create(replace(scale.manifest, entries=()), entries).to_bytes()


OBJECTS = [
    (Assembly(b"", {"f": 0}, index=0xFFF2), "leaves open where 'f' lives (a common symbol)"),
    (Assembly(b"", flags=0x402), "has thread-local data in '', must have none"),
    (Assembly(b"", flags=0x3, kind=14), "has constructors in ''"),
    (Assembly(b"", flags=0x7), "has '' both writable and executable"),
    (Assembly(b"", {"f": 9}), "is corrupt: it points outside of itself"),
    (Assembly(b"1234", {"f": 0}, [(1, 0, "f", 0)]), "it relocates past ''"),
    (Assembly(bytes(8), {"f": 0}, [(99, 0, "f", 0)]), "has a relocation of type 99"),
    (Assembly(bytes(8), {"f": 0}, [(10, 0, "f", 0)]), "by R_X86_64_32, which is too short"),
    (Assembly(bytes(8), {"f": 0}, [(1, 0, "no_such", 0)]), "'cpu/z.o' needs 'no_such', which"),
    (Assembly(FORTY_TWO.code, {"segment_0": 0}), "'cpu/scale.o' and 'cpu/z.o' both define"),
]


def test_objects_that_cannot_be_linked_are_refused(scale: Package, sanitized: OpenAll):
    answers = sanitized([with_object(scale, bytes(part.assemble())) for part, _ in OBJECTS])
    for answer, (_, message) in zip(answers, OBJECTS, strict=True):
        assert answer.status == PACKAGE
        assert message in answer.text


def test_a_step_must_name_a_function(scale: Package, sanitized: OpenAll):
    word = Assembly(bytes(64), {"word": 0}, flags=0x3)
    steps = (replace(scale.manifest.steps[0], symbol="word"),)
    entries = {**scale.entries, "cpu/z.o": bytes(word.assemble())}
    manifest = replace(scale.manifest, steps=steps, entries=())
    (answer,) = sanitized([Package.create(manifest, entries).to_bytes()])
    assert answer == Answer(PACKAGE, "'cpu/z.o' defines 'word', which is no function")


def test_code_that_no_memory_holds_is_refused(scale: Package, sanitized: OpenAll):
    data = bytearray(Assembly(b"", flags=0x3, kind=8).assemble())
    struct.pack_into("<Q", data, len(data) - 4 * 64 + 32, 1 << 62)
    (answer,) = sanitized([with_object(scale, bytes(data))])
    assert answer.status == SYSTEM
    assert answer.text == "native code takes 4611686018427387904 bytes, the system has less"


def test_a_damaged_object_is_linked_or_refused(
    scale: Package, segment_object: memoryview, sanitized: OpenAll
):
    chance, packages = random.Random(1), list[bytes]()
    for _ in range(500):
        data = bytearray(FORTY_TWO.assemble() if chance.random() < 0.3 else segment_object)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        packages.append(
            with_object(scale, bytes(data[: chance.choice([len(data), len(data) // 2])]))
        )
    answers = sanitized(packages)
    assert {answer.status for answer in answers} <= {0, SYSTEM, PACKAGE}


def test_a_package_for_a_better_cpu_is_refused(scale: Package, sanitized: OpenAll):
    (part,) = scale.manifest.parts
    machines = (
        replace(part.machines[0], machine="future", features=("sse4.2", "avx9000")),
        replace(part.machines[0], machine="arm", architecture="aarch64"),
    )
    texts = [
        replace(scale.manifest, parts=(replace(part, machines=each),)).to_json()
        for each in (machines[:1], machines[1:], ())
    ]
    again = "compile the model or the package again for it"
    assert sanitized([packed(text, scale) for text in texts]) == [
        Answer(UNSUPPORTED, f"the package needs avx9000, which this CPU lacks: {again}"),
        Answer(UNSUPPORTED, f"the package is for aarch64, this machine is x86_64: {again}"),
        Answer(UNSUPPORTED, f"the package is for no CPU at all: {again}"),
    ]


def test_a_file_that_is_not_there_is_said(built: Path, tmp_path: Path):
    for path, text in ((tmp_path / "no.trv", "No such file"), (tmp_path, "it is no file")):
        done = subprocess.run([built / "run", path], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.startswith(f"error {SYSTEM}: {path}: cannot be read: {text}")


def test_entries_with_another_name_are_not_vouched_for(scale: Package, sanitized: OpenAll):
    more = replace(scale.manifest, entries=(*scale.manifest.entries, Entry("more.bin", 0, "")))
    (answer,) = sanitized([packed(more.to_json(), scale)])
    text = "is corrupt: it lacks entry 'more.bin', which its manifest lists"
    assert answer == Answer(PACKAGE, text)
    assert isinstance(more, Manifest)


def large_package(scale: Package) -> Package:
    """Return a package with 5 MiB of weights, which have checksums of their own by parts."""
    weights = bytes(scale.weights).ljust(5 << 20, b"w")
    memory = replace(scale.manifest.memory, weight_bytes=len(weights))
    manifest = replace(scale.manifest, memory=memory, entries=())
    return Package.create(manifest, {**scale.entries, "weights.bin": weights})


def test_parts_of_large_entries_have_checksums(scale: Package, sanitized: OpenAll):
    large = large_package(scale)
    whole = large.to_bytes()
    start = whole.rindex(bytes(scale.weights))
    changed: list[bytes] = []
    for place in (0, (2 << 20) + 7, (5 << 20) - 1):
        data = bytearray(whole)
        data[start + place] ^= 1
        changed.append(bytes(data))
    same = outputs(np.arange(16, dtype=np.float32))
    assert sanitized([whole], "run") == [Answer(0, same)]
    differs = Answer(PACKAGE, "is corrupt: the checksum of 'weights.bin' differs")
    assert sanitized(changed) == [differs] * 3


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"ranges": []}, PACKAGE, "has 0 checksums of ranges, must have 3 for 5242880 bytes"),
        ({"ranges": ["sha256:0"] * 3}, PACKAGE, "has a checksum that is not that of its 3 ranges"),
        ({"checksum": "fold:0"}, PACKAGE, "has a checksum that is not that of its 3 ranges"),
        ({"offset": 64}, PACKAGE, "entry 'weights.bin' is at offset 64, must be at a multiple of"),
        ({"file": "w.bin"}, PACKAGE, "needs file 'w.bin' beside it: open the package by its path"),
        ({"file": "../w"}, PACKAGE, "'../w' must name a file in the folder of the package"),
        ({"file": "w", "offset": -64}, PACKAGE, "entry 'weights.bin' is at offset -64"),
    ],
)
def test_what_vouches_for_an_entry_is_checked(
    scale: Package, sanitized: OpenAll, change: dict[str, Any], status: int, message: str
):
    large = large_package(scale)
    document = json.loads(large.manifest.to_json())
    (entry,) = (each for each in document["entries"] if each["name"] == "weights.bin")
    entry |= change
    (answer,) = sanitized([packed(json.dumps(document), large)])
    assert answer.status == status
    assert message in answer.text
