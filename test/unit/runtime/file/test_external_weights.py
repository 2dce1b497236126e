"""Constants in a file beside a package: named by it, mapped once, refused where it is another."""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.dialects.core.errors import CompileError
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.file.signature import new_key
from trivium.runtime.manifest import Manifest
from trivium.runtime.memory import address_of
from trivium.runtime.package import Package
from trivium.tools.main import main

SIZE = 64
FILE = "net.weights"
X = np.ones((1, SIZE), np.float32)


def _model(factor: float = 2) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[N, {SIZE}] x) => (float[N, {SIZE}] y) {{ y = MatMul (x, w) }}
    """)
    array = np.diag(np.full(SIZE, factor, np.float32))
    model.graph.initializer.append(onnx.numpy_helper.from_array(array, "w"))
    return model


@pytest.fixture(params=[(), ({"N": 1},)], ids=["one program", "exact sizes"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    trivium.build(_model(), exact=request.param).save(tmp_path / "net.trv", external_weights=FILE)
    return tmp_path / "net.trv"


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    trivium.build(_model()).save(tmp_path / "net.trv", external_weights=FILE)
    return tmp_path / "net.trv"


def _weights(package: Package) -> int:
    return address_of(np.frombuffer(package.weights, np.uint8))


def _refusal(path: Path, **options: object) -> str:
    with pytest.raises(PackageError) as caught:
        Package.open(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_the_package_has_no_constants_and_runs(path: Path) -> None:
    package = Package.open(path)
    stored = (path.parent / FILE).read_bytes()
    assert stored == bytes(package.weights)
    matrix = np.diag(np.full(SIZE, 2, np.float32)).tobytes()
    assert sorted(stored) == sorted(matrix + bytes(len(stored) - len(matrix)))
    assert path.read_bytes().find(stored[:256]) < 0
    (entry,) = [each for each in package.manifest.entries if each.file]
    assert (entry.name, entry.file, entry.offset) == ("weights.bin", FILE, 0)
    assert entry.checksum.startswith("sha256:")
    for options in ({}, {"mmap": False}, {"check": True}):
        assert np.array_equal(trivium.load(path, **options)(X), 2 * X)
    assert np.array_equal(trivium.load(path)(np.repeat(X, 3, 0)), np.repeat(2 * X, 3, 0))


def test_another_folder_and_another_process(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    assert np.array_equal(trivium.load("net.trv")(X), 2 * X)
    monkeypatch.chdir("/")
    code = (
        "import sys, trivium, numpy as np;"
        f"y = trivium.load(sys.argv[1])(np.ones((1, {SIZE}), np.float32));"
        "assert (y == 2).all()"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_packages_that_name_one_file_share_its_mapping(plain: Path) -> None:
    other = plain.parent / "other.trv"
    before = os.stat(plain.parent / FILE)
    trivium.build(_model(), threads=1).save(other, external_weights=FILE)
    after = os.stat(plain.parent / FILE)
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    first, second = Package.open(plain), Package.open(other)
    assert first is not second
    assert _weights(first) == _weights(second)
    assert np.array_equal(trivium.Session(second)(X), trivium.Session(first)(X))


def test_a_link_to_the_package_elsewhere_uses_the_file_there(plain: Path) -> None:
    folder = plain.parent / "elsewhere"
    folder.mkdir()
    (folder / "net.trv").hardlink_to(plain)
    opened = Package.open(plain)
    assert "which cannot be read: No such file" in _refusal(folder / "net.trv")
    (folder / FILE).write_bytes((plain.parent / FILE).read_bytes())
    copy = Package.open(folder / "net.trv")
    assert _weights(copy) != _weights(opened)
    assert Package.open(plain) is opened


def test_a_missing_file_is_named(path: Path) -> None:
    (path.parent / FILE).unlink()
    for mmap in (None, False):
        assert _refusal(path, mmap=mmap) == (
            f"{path}: needs file '{FILE}' beside it, which cannot be read: "
            "No such file or directory"
        )


@pytest.mark.parametrize("change", [lambda d: d[:-1], lambda d: d + b"\0", lambda d: b""])
def test_a_file_of_another_size_is_refused(path: Path, change: Callable[[bytes], bytes]) -> None:
    data = (path.parent / FILE).read_bytes()
    (path.parent / FILE).write_bytes(change(data))
    message = _refusal(path)
    assert f"needs file '{FILE}' of {len(data)} bytes beside it, which has " in message
    assert message.endswith("take the one that was saved with it")


def test_another_file_of_the_same_size_is_refused_by_the_first_run(path: Path) -> None:
    data = bytearray((path.parent / FILE).read_bytes())
    data[100] ^= 1
    (path.parent / FILE).write_bytes(data)
    wrong = f"{path}: is corrupt: the checksum of 'weights.bin' in '{FILE}' differs"
    session = trivium.load(path)
    for _ in range(2):
        with pytest.raises(PackageError) as caught:
            session(X)
        assert str(caught.value) == wrong
    assert _refusal(path, check=True) == wrong
    assert _refusal(path, mmap=False).endswith(f"the checksum of 'weights.bin' in '{FILE}' differs")


def test_a_file_changed_in_place_is_noticed(path: Path) -> None:
    session = trivium.load(path)
    session(X)
    data = bytearray((path.parent / FILE).read_bytes())
    data[100] ^= 1
    with open(path.parent / FILE, "r+b") as file:
        file.write(data)
    with pytest.raises(PackageError, match=f"{FILE}: was changed in place after it was opened"):
        session.clone()


def test_a_file_that_is_replaced_stays_mapped_but_is_not_opened_again(path: Path) -> None:
    session = trivium.load(path)
    (path.parent / FILE).rename(path.parent / "old")
    (path.parent / FILE).write_bytes(b"x")
    assert np.array_equal(session(X), 2 * X)
    assert "which has 1" in _refusal(path)


OUTSIDE = [
    "../secret",
    "/etc/hostname",
    "a/../../secret",
    "..",
    ".",
    "",
    "a\\b",
    "C:x",
    "a\0b",
    "~",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_leads_out_of_the_folder(plain: Path, name: str) -> None:
    package = Package.open(plain)
    if name:
        with pytest.raises(RunError, match="must name a file in the folder of the package"):
            package.with_external_weights(name)
        with pytest.raises(CompileError, match="must name a file in the folder of the package"):
            trivium.build(_model(), external_weights=name)
    entries = [replace(e, file=name) if e.file else e for e in package.manifest.entries]
    forged = _forged(package, replace(package.manifest, entries=tuple(entries)), plain)
    expected = "must name a file in the folder" if name else "it lacks entry 'weights.bin'"
    assert expected in _refusal(forged)


def _forged(package: Package, manifest: Manifest, path: Path) -> Path:
    """Write a package whose manifest is another, with the right checksum of the manifest."""
    inside = replace(
        package.manifest, entries=tuple(e for e in package.manifest.entries if not e.file)
    )
    forged = replace(package, manifest=inside, files=())
    entries = {name: package.entries[name] for name in package.entries if name != "weights.bin"}
    forged = replace(forged, entries=entries)

    class Text(Manifest):
        def to_json(self) -> str:
            return manifest.to_json()

    object.__setattr__(forged, "manifest", Text(**vars(inside)))
    forged.save(path.parent / "forged.trv")
    return path.parent / "forged.trv"


def test_a_manifest_that_lies_about_its_file_is_refused(plain: Path) -> None:
    package = Package.open(plain)

    def refusal(**changed: object) -> str:
        entries = [replace(e, **changed) if e.file else e for e in package.manifest.entries]
        return _refusal(_forged(package, replace(package.manifest, entries=tuple(entries)), plain))

    assert "at offset -64, must be at a multiple of 64" in refusal(offset=-64)
    assert "at offset 8, must be at a multiple of 64" in refusal(offset=8)
    assert f"of {SIZE * SIZE * 4 + 64} bytes beside it" in refusal(offset=64)
    assert "its checksums must be sha256" in refusal(checksum="fold:0")
    assert "which is the package itself" in refusal(file="forged.trv")


def test_a_link_out_of_the_folder_is_refused(plain: Path) -> None:
    inner = plain.parent / "inner"
    inner.mkdir()
    plain.rename(inner / "net.trv")
    (inner / FILE).symlink_to(plain.parent / FILE)
    assert "which a link leads out of its folder" in _refusal(inner / "net.trv")
    (inner / FILE).unlink()
    (inner / "real").write_bytes((plain.parent / FILE).read_bytes())
    (inner / FILE).symlink_to(inner / "real")
    assert np.array_equal(trivium.load(inner / "net.trv")(X), 2 * X)
    (inner / FILE).unlink()
    os.mkfifo(inner / FILE)
    assert "which has 0" in _refusal(inner / "net.trv")


def test_a_file_that_others_need_is_not_replaced(plain: Path) -> None:
    mine = plain.parent / "notes.txt"
    mine.write_text("keep me")
    other = plain.parent / "other.trv"
    with pytest.raises(PackageError, match=r"notes.txt: has other bytes and does not belong to"):
        trivium.build(_model(3)).save(other, external_weights="notes.txt")
    with pytest.raises(PackageError, match=f"{FILE}: has other bytes and does not belong to"):
        trivium.build(_model(3)).save(other, external_weights=FILE)
    assert not other.exists()
    assert mine.read_text() == "keep me"
    assert np.array_equal(trivium.load(plain)(X), 2 * X)
    before = trivium.load(plain)
    trivium.build(_model(3)).save(plain, external_weights=FILE)
    assert np.array_equal(trivium.load(plain)(X), 3 * X)
    assert np.array_equal(before(X), 2 * X)
    with pytest.raises(PackageError, match=r"net.trv: names file 'net.trv', which is"):
        trivium.build(_model(3)).save(plain, external_weights="net.trv")
    with pytest.raises(PackageError, match="sub/w: cannot be written: No such file"):
        trivium.build(_model(3)).save(plain, external_weights="sub/w")
    assert sorted(each.name for each in plain.parent.iterdir()) == ["net.trv", FILE, "notes.txt"]


def test_saving_keeps_the_file_and_writes_it_where_it_is_not(path: Path, tmp_path: Path) -> None:
    session = trivium.load(path)
    session.save(path)
    folder = tmp_path / "copy"
    folder.mkdir()
    session.save(folder / "net.trv")
    assert (folder / FILE).read_bytes() == (path.parent / FILE).read_bytes()
    assert (folder / "net.trv").read_bytes() == path.read_bytes()
    session.save(tmp_path / "whole.trv", external_weights="")
    (path.parent / FILE).unlink()
    assert np.array_equal(trivium.load(tmp_path / "whole.trv")(X), 2 * X)
    assert np.array_equal(trivium.load(folder / "net.trv")(np.repeat(X, 2, 0))[1:], 2 * X)


def test_bytes_and_pickles_have_all_in_them(path: Path) -> None:
    session = trivium.load(path)
    data, pickled = Package.open(path).to_bytes(), pickle.dumps(session)
    (path.parent / FILE).unlink()
    assert np.array_equal(trivium.load(data)(X), 2 * X)
    assert np.array_equal(pickle.loads(pickled)(X), 2 * X)
    with pytest.raises(PackageError, match=f"needs file '{FILE}' beside it: open the package by"):
        Package.open(path.read_bytes())


def test_signatures_cover_the_file(path: Path) -> None:
    key = path.parent / "k"
    new_key(key)
    public = f"{key}.pub"
    Package.open(path).sign(key).save(path)
    assert np.array_equal(trivium.load(path, key=public)(X), 2 * X)
    data = bytearray((path.parent / FILE).read_bytes())
    data[0] ^= 1
    (path.parent / FILE).write_bytes(data)
    assert "the checksum of 'weights.bin' in" in _refusal(path, key=public)
    data[0] ^= 1
    (path.parent / FILE).write_bytes(data)
    damaged = path.read_bytes().replace(b'"file":"net.weights"', b'"file":"net_weights"')
    assert damaged != path.read_bytes()
    path.write_bytes(damaged)
    assert "differs" in _refusal(path, key=public) or "was altered" in _refusal(path, key=public)


@pytest.mark.parametrize("exact", [(), ({"N": 1},)], ids=["one program", "exact sizes"])
def test_compressed_constants_may_be_beside_a_package(tmp_path: Path, exact: object) -> None:
    pytest.importorskip("zstandard")
    options = {"exact": exact, "compress": True, "external_weights": FILE}
    package = trivium.build(_model(), **options)  # type: ignore[arg-type]
    package.save(tmp_path / "net.trv")
    assert (tmp_path / FILE).stat().st_size < SIZE * SIZE
    assert np.array_equal(trivium.load(tmp_path / "net.trv")(X), 2 * X)
    other = trivium.build(_model(), exact=exact, external_weights=FILE).compressed()  # type: ignore
    assert other.to_bytes() == package.to_bytes()


def test_other_weights_go_where_those_were(tmp_path: Path) -> None:
    path = tmp_path / "net.trv"
    trivium.build(_model(), refit=True, external_weights=FILE).save(path)
    session = trivium.load(path)
    session.update_weights({"w": np.diag(np.full(SIZE, 5, np.float32))})
    session.save(path)
    assert np.array_equal(trivium.load(path)(X), 5 * X)


def test_a_model_without_constants_has_no_file() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]> net (float[4] x) => (float[4] y) { y = Exp (x) }
    """)
    with pytest.raises(RunError, match="is 'w', but the package has no constants"):
        trivium.build(model, external_weights="w")


def test_the_commands_know_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(_model(), "net.onnx")
    compiling = ["compile", "net.onnx", "-o", "net.trv", "--external-weights"]
    assert main([*compiling, FILE]) == 0
    assert f" with '{FILE}', " in capsys.readouterr().out
    assert main(["info", "net.trv", "--json"]) == 0
    sizes = json.loads(capsys.readouterr().out)["sizes"]
    assert {each["content"]: each["file"] for each in sizes}["weights"] == FILE
    assert {each["content"]: each["file"] for each in sizes}["IR"] == ""
    assert main(["info", "net.trv"]) == 0
    assert f"weights, in file '{FILE}'" in capsys.readouterr().out
    assert main(["strip", "net.trv", "-o", "small.trv"]) == 0
    assert main(["load", "small.trv", "--check"]) == 0
    assert main(["compile", "net.trv", "-o", "again.trv", "--external-weights", FILE]) == 0
    small = Package.open("small.trv")
    assert _weights(small) == _weights(Package.open("again.trv"))
    capsys.readouterr()
    Path(FILE).unlink()
    assert main(["run", "small.trv", "--random"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert main([*compiling, "../w"]) == 2
    assert "must name a file in the folder of the package" in capsys.readouterr().err
