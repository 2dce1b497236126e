"""Runs that read some of the constants: no more of them is checked, or read from the file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.runtime.errors import PackageError
from trivium.runtime.file.checked_entries import CheckedEntries
from trivium.runtime.file.vouching import RANGE, vouched
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.test.unit.runtime.mapped_pages import resident

SIZE = 1024
WEIGHT = SIZE * SIZE * 4
FILE = "weights.bin"
X = np.ones((1, SIZE), np.float32)
FACTORS = {"u": 1.0, "v": 2.0, "w": 3.0}
"""Each weight is its factor on the diagonal: products are exact."""

Summed = list[int]


def _model(text: str, weights: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]>' + text)
    for name, array in weights.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a package of three products, of which each reads 4 MiB of constants."""
    model = _model(
        f"""net (float[1, {SIZE}] x) => (float[1, {SIZE}] y)
        {{ a = MatMul (x, u) b = MatMul (a, v) y = MatMul (b, w) }}""",
        {name: np.diag(np.full(SIZE, f, np.float32)) for name, f in FACTORS.items()},
    )
    path = tmp_path_factory.mktemp("chain") / "net.trv"
    trivium.build(model, keep=["a", "b"]).save(path)
    return path


@pytest.fixture
def path(chain: Path, tmp_path: Path) -> Path:
    """Return a copy of the package, which nobody has mapped."""
    (tmp_path / "net.trv").write_bytes(chain.read_bytes())
    return tmp_path / "net.trv"


def _damage(path: Path, factor: float) -> None:
    """Flip a bit of the first number in the constants that is a factor, in a new file."""
    package = Package.open(path, mmap=False)
    numbers = np.frombuffer(package.weights, np.float32)
    data = bytearray(path.read_bytes())
    begin = data.index(bytes(package.weights[:WEIGHT]))
    data[begin + 4 * int(np.flatnonzero(numbers == factor)[SIZE // 2])] ^= 4
    path.unlink()
    path.write_bytes(data)


def test_a_part_reads_what_it_computes_with(path: Path, summed: Summed) -> None:
    session = trivium.load(path)
    before = resident(path)
    summed.clear()
    part = session.part(inputs=["a"], outputs=["b"])
    assert np.array_equal(part(X), 2 * X)
    assert WEIGHT <= sum(summed) <= WEIGHT + 2 * RANGE
    assert resident(path) - before <= WEIGHT + 2 * RANGE + (1 << 20)
    assert np.array_equal(part.clone()(X), 2 * X)
    assert np.array_equal(session(X), 6 * X)
    assert np.array_equal(trivium.load(path)(X), 6 * X)
    weights = len(Package.open(path).weights)
    assert weights <= sum(n for n in summed if n > 1 << 19) <= weights + RANGE


@pytest.mark.parametrize("name", FACTORS)
def test_damage_is_found_by_what_reads_it_alone(path: Path, name: str) -> None:
    parts = {"u": ("x", "a", 1), "v": ("a", "b", 2), "w": ("b", "y", 3)}
    _damage(path, FACTORS[name])
    session = trivium.load(path)
    for each, (taken, given, factor) in parts.items():
        part = session.part(inputs=[taken], outputs=[given])
        for _ in range(2):
            if each == name:
                with pytest.raises(PackageError, match=f"the checksum of '{FILE}' differs"):
                    part(X)
            else:
                assert np.array_equal(part(X), factor * X)
    with pytest.raises(PackageError, match=f"the checksum of '{FILE}' differs"):
        session(X)
    with pytest.raises(PackageError, match=f"the checksum of '{FILE}' differs"):
        session.save(path.parent / "never.trv")


def test_load_steps_read_what_they_widen(tmp_path: Path, summed: Summed) -> None:
    random = np.random.default_rng(0)
    codes = random.integers(-128, 128, (SIZE, SIZE), np.int8)
    model = _model(
        f"""net (float[40, {SIZE}] x, int64[3] i) => (float[40, {SIZE}] y, float[3, {SIZE}] z)
        {{ d = DequantizeLinear (q, s) y = MatMul (x, d) z = Gather (t, i) }}""",
        {
            "q": codes,
            "s": np.asarray(np.float32(0.25)),
            "t": random.random((8 * SIZE, SIZE), np.float32),
        },
    )
    trivium.build(model).save(tmp_path / "net.trv")
    summed.clear()
    session = trivium.load(tmp_path / "net.trv")
    assert resident(tmp_path / "net.trv") < codes.nbytes // 2
    assert session.manifest.load_steps
    weights = session.manifest.memory.weight_bytes
    assert weights > 32 << 20
    assert codes.nbytes <= sum(summed) < codes.nbytes + 4 * RANGE
    table = onnx.numpy_helper.to_array(model.graph.initializer[2])
    part = session.part(inputs=["i"], outputs=["z"])
    assert np.array_equal(part(np.array([5, 0, 8191])), table[[5, 0, 8191]])
    part = session.part(inputs=["x"], outputs=["y"])
    wide = codes.astype(np.float32) / 4
    x = random.integers(-8, 8, (40, SIZE)).astype(np.float32)
    assert np.array_equal(part(x), x @ wide)


def test_sums_of_ranges_vouch_for_the_whole() -> None:
    data = np.random.default_rng(0).integers(0, 256, 2 * RANGE + 3, np.uint8)
    entry = vouched("a", data.data)
    assert len(entry.ranges) == 3
    assert len({entry.checksum, *entry.ranges}) == 4
    assert vouched("a", data[:RANGE].data).ranges == ()
    for at, part in ((0, 0), (RANGE - 1, 0), (RANGE, 1), (2 * RANGE + 2, 2)):
        other = data.copy()
        other[at] ^= 1
        changed = vouched("a", other.data)
        assert changed.checksum != entry.checksum
        assert [i for i in range(3) if changed.ranges[i] != entry.ranges[i]] == [part]
        entries = CheckedEntries({"a": other.data}, [entry])
        for number in range(3):
            spans = [(number * RANGE, number * RANGE + 1), (5, 5)]
            if number == part:
                with pytest.raises(PackageError, match="is corrupt: the checksum of 'a' differs"):
                    entries.check("a", spans)
            else:
                entries.check("a", spans)
        assert not entries.is_checked("a")


def test_a_range_is_read_once(summed: Summed) -> None:
    data = bytes(3 * RANGE)
    entries = CheckedEntries({"a": memoryview(data)}, [vouched("a", memoryview(data))])
    summed.clear()
    for spans in ([(0, 1)], [(RANGE - 1, RANGE)], [(RANGE - 1, RANGE + 1)], None):
        entries.check("a", spans)
    assert summed == [RANGE] * 3
    assert entries.is_checked("a")


def test_a_manifest_has_the_sums_that_its_entries_need(chain: Path) -> None:
    package = Package.open(chain)

    def refusal(**changed: object) -> str:
        listed = [replace(e, **changed) if e.name == FILE else e for e in package.manifest.entries]
        manifest = replace(package.manifest, entries=tuple(listed))
        data = replace(package, manifest=manifest).to_bytes()
        with pytest.raises(PackageError) as caught:
            Package.open(data)
        return str(caught.value)

    (entry,) = [each for each in package.manifest.entries if each.name == FILE]
    count = len(entry.ranges)
    assert count == -(-entry.size // RANGE)
    few = refusal(ranges=entry.ranges[1:])
    assert few.startswith(f"manifest: entry '{FILE}' has {count - 1} checksums of ranges, must")
    swapped = (entry.ranges[1], entry.ranges[0], *entry.ranges[2:])
    for changed in ({"checksum": entry.ranges[0]}, {"ranges": swapped}):
        assert "is not that of its" in refusal(**changed)
    small = next(e for e in package.manifest.entries if e.size <= RANGE)
    assert small.ranges == ()
    assert Manifest.from_json(package.manifest.to_json()) == package.manifest
