"""Packages whose weights are in a file beside them, opened by libtrivium."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from trivium.runtime.errors import PackageError
from trivium.runtime.package import Package
from trivium.test.unit.runtime.c.c_session import CPackage, CSession, Refused, load


@pytest.fixture(scope="module")
def library(built: Path) -> ctypes.CDLL:
    return load(built)


@pytest.fixture
def apart(scale: Package, tmp_path: Path) -> Path:
    """Return the path of a package; `net.weights` beside it has its weights."""
    scale.save(tmp_path / "net.trv", external_weights="net.weights")
    return tmp_path / "net.trv"


def runs(library: ctypes.CDLL, path: Path) -> bool:
    package = CPackage(library, path)
    session = CSession(package)
    x = np.arange(16, dtype=np.float32)
    y = session.run({"x": x})["y"]
    session.close()
    package.close()
    return np.array_equal(y, x * np.arange(16, dtype=np.float32) + 1)


def test_weights_beside_a_package_are_mapped(
    library: ctypes.CDLL, apart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runs(library, apart)
    monkeypatch.chdir(apart.parent)
    assert runs(library, Path("net.trv"))
    (apart.parent / "folder").mkdir()
    assert runs(library, Path("folder/../net.trv"))


def change(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)


def link_out(path: Path) -> None:
    (path.parent / "folder").mkdir()
    (path.parent / "folder" / "net.trv").write_bytes((path.parent / "net.trv").read_bytes())
    (path.parent / "folder" / "net.weights").symlink_to(path)


@pytest.mark.parametrize(
    ("harm", "name", "message"),
    [
        (change, "net.trv", "is corrupt: the checksum of 'weights.bin' differs"),
        (Path.unlink, "net.trv", "needs file 'net.weights' beside it, which cannot be read"),
        (lambda p: p.write_bytes(bytes(65)), "net.trv", "of 64 bytes beside it, which has 65"),
        (lambda p: p.write_bytes(b""), "net.trv", "of 64 bytes beside it, which has 0"),
        (link_out, "folder/net.trv", "names file 'net.weights', which is led out of its folder"),
    ],
)
def test_another_file_is_refused(
    library: ctypes.CDLL, apart: Path, harm: Callable[[Path], object], name: str, message: str
) -> None:
    harm(apart.parent / "net.weights")
    with pytest.raises(Refused, match=message):
        CPackage(library, apart.parent / name)
    with pytest.raises(PackageError):
        Package.open(apart.parent / name, check=True)


def test_a_package_is_not_its_own_weights(library: ctypes.CDLL, apart: Path) -> None:
    path = apart.parent / "net.weights"
    path.unlink()
    apart.rename(path)
    with pytest.raises(Refused, match=r"names file 'net.weights', which is the package itself"):
        CPackage(library, path)
