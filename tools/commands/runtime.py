"""Write the sources of libtrivium, which runs packages from C and C++ without Python.

It is C11 that needs a C compiler, make and libc. `make` in the folder builds libtrivium.a,
libtrivium.so and `run`, an example of a program; docs/targets/c-runtime.md says how to use them.
"""

import argparse
from pathlib import Path

from ...runtime.errors import RunError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, required=True, help="the folder to make"
    )


def run(flags: argparse.Namespace) -> None:
    """Write the sources to a new folder; raise RunError where that cannot be made."""
    from ...runtime.c.sources import write_sources

    folder: Path = flags.output
    if folder.exists():
        raise RunError(f"'{folder}' exists, choose another folder")
    try:
        names = write_sources(folder)
    except OSError as error:
        raise RunError(f"cannot write '{folder}': {error.strerror}") from None
    print(f"{folder}: {len(names)} files of libtrivium; to build and try it:")
    print(f"  make -C {folder}")
    print(f"  {folder}/run MODEL.trv")
