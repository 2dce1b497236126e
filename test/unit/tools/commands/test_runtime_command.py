"""`trivium runtime`: what it writes builds, installs, and is used from C and C++."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.runtime.c.sources import sources
from trivium.tools.main import main
from trivium.version import __version__

MODEL = """
    <ir_version: 10, opset_import: ["" : 21]>
    layer (float[2, 3] x) => (float[2, 2] y) <float[3, 2] w = {1, 0, 0, 1, -1, -1}>
    { y = MatMul (x, w) }
"""
CPLUSPLUS = r"""
#include <array>
#include <cstdio>
#include "trivium.hpp"

int main(int, char **argv) {
    try {
        trivium::Package package(argv[1]);
        const trivium::Port &port = package.inputs().at(0);
        std::printf("%s %s %d\n", port.name.c_str(), port.dtype.c_str(), (int)port.shape.at(1));
        trivium::Session session(package, 2);
        std::vector<float> x{1, 2, 3, 3, 2, 1};
        std::array<float, 4> y;
        package = trivium::Package(argv[1]);
        trivium::Input input(x), copy(input);
        session.run({copy}, {y});
        std::printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
        try {
            session.run({trivium::Input(x.data(), 8)}, {y});
        } catch (const trivium::Error &error) {
            std::printf("%d %s\n", error.status, error.what());
        }
        trivium::Package("no.trv");
    } catch (const trivium::Error &error) {
        std::printf("%d %s\n", error.status, error.what());
    }
}
"""
SAID = """\
x float32 3
-2 -1 2 1
4 input 'x' has 8 bytes, must have 24
1 no.trv: cannot be read: No such file or directory
"""
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(app C CXX)
set(CMAKE_CXX_STANDARD 17)
add_executable(app app.cpp)
{find}
target_link_libraries(app PRIVATE trivium::trivium)
"""


def need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")


def do(folder: Path, *command: str | Path, **variables: str) -> str:
    environment = os.environ | variables
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, env=environment
    ).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sources, a package, and what `make install` has installed."""
    folder = tmp_path_factory.mktemp("runtime")
    assert main(["runtime", "-o", str(folder / "c")]) == 0
    trivium.compile(onnx.parser.parse_model(MODEL)).save(folder / "layer.trv")
    (folder / "app.cpp").write_text(CPLUSPLUS)
    need("cc", "c++", "make")
    do(folder, "make", "-s", "-C", "c", "CFLAGS=-O1 -Werror", "all")
    do(folder, "make", "-s", "-C", "c", f"PREFIX={folder}/usr", "install")
    return folder


def test_the_example_runs_files(folder: Path) -> None:
    x = np.array([[1, 2, 3], [3, 2, 1]], np.float32)
    x.tofile(folder / "x.raw")
    listed = do(folder, "c/run", "layer.trv")
    assert listed == "input x: float32[2, 3], 24 bytes\noutput y: float32[2, 2], 16 bytes\n"
    assert do(folder, "c/run", "layer.trv", "1", "x.raw", "y.raw") == ""
    assert np.fromfile(folder / "y.raw", np.float32).tolist() == [-2, -1, 2, 1]
    (folder / "long.raw").write_bytes(bytes(25))
    done = subprocess.run(
        ["c/run", "layer.trv", "1", "long.raw", "y.raw"], cwd=folder, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "long.raw: must have 24 bytes for x\n")


def test_the_library_is_small_and_has_no_other_names(folder: Path) -> None:
    need("nm", "strip", "readelf")
    do(folder, "strip", "-o", "stripped.so", "usr/lib/libtrivium.so")
    assert (folder / "stripped.so").stat().st_size < 100_000
    exported = do(folder, "nm", "-D", "--defined-only", "stripped.so").split()[2::3]
    assert exported
    assert all(name.startswith("trivium_") for name in exported)
    needed = [line for line in do(folder, "readelf", "-d", "stripped.so").splitlines()]
    libraries = {line.rpartition("[")[2].rstrip("]") for line in needed if "(NEEDED)" in line}
    assert libraries <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
    assert not any("TEXTREL" in line for line in needed)


def test_a_static_program_finds_what_code_calls(folder: Path) -> None:
    sources = ["c/run.c", "c/libtrivium.a", "-ldl", "-pthread"]
    done = subprocess.run(["cc", "-static", "-o", "static", *sources], cwd=folder)
    if done.returncode:
        pytest.skip("needs a static C library")
    np.ones(6, np.float32).tofile(folder / "ones.raw")
    do(folder, "./static", "layer.trv", "2", "ones.raw", "static.raw")
    assert np.fromfile(folder / "static.raw", np.float32).tolist() == [0, 0, 0, 0]


def test_cplusplus_by_pkg_config(folder: Path) -> None:
    need("pkg-config")
    paths = {"PKG_CONFIG_PATH": f"{folder}/usr/lib/pkgconfig"}
    assert do(folder, "pkg-config", "--modversion", "trivium", **paths).strip() == __version__
    flags = do(folder, "pkg-config", "--cflags", "--libs", "trivium", **paths).split()
    strict = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    do(folder, "c++", *strict, "-o", "app", "app.cpp", *flags)
    paths = {"LD_LIBRARY_PATH": f"{folder}/usr/lib"}
    assert do(folder, "./app", "layer.trv", **paths) == SAID


@pytest.mark.parametrize(
    "find", ["find_package(trivium REQUIRED)", "add_subdirectory(c trivium-build)"]
)
def test_cplusplus_by_cmake(folder: Path, find: str, tmp_path: Path) -> None:
    need("cmake")
    (folder / "CMakeLists.txt").write_text(CMAKE.format(find=find))
    do(tmp_path, "cmake", folder, f"-DCMAKE_PREFIX_PATH={folder}/usr")
    do(tmp_path, "cmake", "--build", ".", "--target", "app")
    assert do(tmp_path, "./app", folder / "layer.trv") == SAID


def test_all_sources_are_listed_for_both_builds() -> None:
    files = sources()
    for build in ("Makefile", "CMakeLists.txt"):
        text = files[build].decode()
        assert {name for name in files if name.endswith(".c") and name not in text} == set()


def test_a_folder_that_is_there_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runtime", "-o", str(tmp_path)]) != 0
    assert "exists, choose another folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    assert main(["runtime", "-o", str(tmp_path / "file" / "c")]) != 0
    assert "cannot write" in capsys.readouterr().err
