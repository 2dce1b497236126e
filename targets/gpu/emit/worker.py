"""A process that compiles kernels with Triton, one request after another.

`compiler_pool.py` starts it as a script, by its path, so that nothing of ours is imported here:
what it needs comes with the requests. Requests and replies are dictionaries, sent over a
connection.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

IDLE_SECONDS = 60
"""Seconds that a worker waits for a request before it exits and frees its memory."""

NUMBERS = count()
METADATA = ("name", "num_warps", "num_ctas", "shared", "global_scratch_size", "tensordesc_meta")


def main(descriptor: int, folder: str, search_path: list[str]) -> None:
    """Answer requests from a file descriptor until there are no more; `folder` is for files."""
    sys.path[:] = search_path
    sys.dont_write_bytecode = True
    tempfile.tempdir = folder
    connection = Connection(descriptor)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while connection.poll(IDLE_SECONDS):
            connection.send(_answer(connection.recv(), Path(folder)))
    shutil.rmtree(folder, ignore_errors=True)


def _answer(request: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    os.ftruncate(sys.stderr.fileno(), 0)
    try:
        return {"made": _compile(request, folder)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        for path in folder.glob("kernel*"):
            path.unlink(missing_ok=True)
        shutil.rmtree(folder / "cache", ignore_errors=True)


def _compile(request: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Compile one kernel to assembly and code, the outputs of Triton's last two stages."""
    os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
    triton: Any = import_module("triton")
    compiler: Any = import_module("triton.compiler")
    target: Any = import_module("triton.backends.compiler").GPUTarget(*request["target"])
    function = _load(request, folder)
    names: list[str] = function.arg_names
    types = [request["signature"].get(name, "constexpr") for name in names]
    # Pointers, and sizes of type "i32:16", are multiples of 16.
    aligned = [i for i, each in enumerate(types) if each.startswith("*") or each.endswith(":16")]
    hints = {(index,): [["tt.divisibility", 16]] for index in aligned}
    signature = {name: each.partition(":")[0] for name, each in zip(names, types, strict=True)}
    source = compiler.ASTSource(function, signature, request["constexprs"], hints)
    kernel = triton.compile(source, target=target, options=request["options"])
    metadata = {name: getattr(kernel.metadata, name, 0) for name in METADATA}
    text, code = ("ptx", "cubin") if "cubin" in kernel.asm else ("amdgcn", "hsaco")
    return {**metadata, "assembly": kernel.asm[text], "code": bytes(kernel.asm[code])}


def _load(request: Mapping[str, Any], folder: Path) -> Any:
    """Import the module that defines the kernel; Triton reads its file again.

    Each file has a new name, since Python caches modules by name.
    """
    path = folder / f"kernel{next(NUMBERS)}.py"
    path.write_text(request["text"], encoding="utf-8")
    specification = spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return getattr(module, request["name"])


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
