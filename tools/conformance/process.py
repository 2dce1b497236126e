"""The process that runs cases; `runs.py` starts it as a script, so it imports by full names.

Requests and replies are dictionaries, sent over a connection.
"""

import shutil
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

PACKAGE = "trivium.tools.conformance"


def main(descriptor: int, folder: str, search_path: list[str]) -> None:
    """Answer requests from a file descriptor until there are no more; `folder` is for files."""
    sys.path[:] = search_path
    tempfile.tempdir = folder
    connection = Connection(descriptor)
    answer: Any = import_module(f"{PACKAGE}.answer").answer
    connection.send(import_module("trivium.targets.process_pool").READY)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            request = connection.recv()
            connection.send(answer(request["case"], request["target"]))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
