"""libtrivium as tests use it: built with the sanitizers, and as a library for ctypes."""

import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from trivium.runtime.c.sources import write_sources

STRICT = "-Wall -Wextra -Werror -pedantic"
SANITIZED = f"-O0 -g {STRICT} -fsanitize=address,undefined -fno-sanitize-recover=all"


class Answer(NamedTuple):
    """What libtrivium says of a package: a status, and why; or its outputs after a run."""

    status: int
    text: str


OpenAll = Callable[..., list[Answer]]
"""Open packages in one process that watches every access to memory."""


def make(folder: Path, flags: str, *goals: str) -> None:
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("needs a C compiler and make")
    subprocess.run(["make", "-s", f"CFLAGS={flags}", *goals], cwd=folder, check=True)


def make_program(folder: Path, flags: str, name: str) -> Path:
    """Build one of the programs beside this file with all of libtrivium."""
    write_sources(folder)
    make(folder, flags, "libtrivium.a")
    source = Path(__file__).with_name(name)
    command = ["cc", *flags.split(), "-I.", "-o", "program", str(source), "libtrivium.a"]
    subprocess.run([*command, "-ldl", "-pthread"], cwd=folder, check=True)
    return folder / "program"


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> OpenAll:
    """Return what opens, and may run, packages under the sanitizers for addresses and behaviour."""
    program = make_program(tmp_path_factory.mktemp("sanitized"), SANITIZED, "open_all.c")

    def open_all(packages: Sequence[bytes], *arguments: str) -> list[Answer]:
        given = b"".join(struct.pack("<Q", len(data)) + data for data in packages)
        done = subprocess.run([program, *arguments], input=given, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        lines = done.stdout.decode("ascii").splitlines()
        assert len(lines) == len(packages)
        return [Answer(int(line[0]), line[2:]) for line in lines]

    return open_all


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the sources, built as a user builds them."""
    folder = tmp_path_factory.mktemp("built")
    write_sources(folder)
    make(folder, f"-O2 {STRICT}")
    return folder
