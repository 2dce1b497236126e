"""The process in which Triton's interpreter runs kernels; `interpreter.py` starts it.

Buffers end where a page begins that nobody may touch: a kernel that reads or writes beyond them
ends the process. Before them lie bytes that must stay as they are.
"""

import ctypes
import importlib.util
import mmap
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

NUMBERS = count()
PAGE = mmap.PAGESIZE
MARGIN = 0xFF  # NaN in floats, -1 in integers: a kernel that reads it gives itself away


class GuardedMemory:
    """Hold bytes that end at a forbidden page, and begin behind a forbidden page and a margin."""

    def __init__(self, content: bytes) -> None:
        pages = len(content) // PAGE + 2
        self.map = mmap.mmap(-1, (pages + 2) * PAGE)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.end = (pages + 1) * PAGE
        self.start = self.end - len(content)
        self.map[PAGE : self.start] = bytes([MARGIN]) * (self.start - PAGE)
        self.map[self.start : self.end] = content
        libc = ctypes.CDLL(None, use_errno=True)
        for page in (0, self.end):
            if libc.mprotect(ctypes.c_void_p(self.base + page), PAGE, 0):
                raise OSError(ctypes.get_errno(), "mprotect")

    @property
    def address(self) -> int:
        return self.base + self.start

    def content(self) -> bytes:
        """Return the bytes; raise IndexError when the margin before them was written to."""
        if self.map[PAGE : self.start].strip(bytes([MARGIN])):
            raise IndexError("wrote before the beginning of a buffer")
        return self.map[self.start : self.end]


def answer(request: dict[str, Any], folder: Path) -> list[bytes]:
    """Run a kernel on buffers, and return what they hold then."""
    import numpy as np
    import triton.language as tl
    from triton.runtime import interpreter

    memories = [GuardedMemory(content) for content in request["buffers"]]
    semantic = tl.semantic.TritonSemantic(interpreter.InterpreterBuilder())

    def pointer(type_: str, memory: GuardedMemory) -> Any:
        pointer_type = tl.str_to_ty(type_, None)
        address = np.array([memory.address], np.uint64)
        return tl.tensor(interpreter.TensorHandle(address, pointer_type), pointer_type)

    def argument(type_: str, index: int, shape: list[int], strides: list[int]) -> Any:
        if type_.startswith("*"):
            return pointer(type_, memories[index])
        element, _, box = type_.removeprefix("tensordesc<").removesuffix("]>").partition("[")
        steps = [interpreter._implicit_cvt(stride) for stride in strides[:-1]]
        return semantic.make_tensor_descriptor(
            pointer(f"*{element}", memories[index]),
            [interpreter._implicit_cvt(size) for size in shape],
            [*steps, tl.constexpr(strides[-1])],
            [tl.constexpr(int(size)) for size in box.split(",")],
            padding_option="zero",
        )

    path = folder / f"kernel{next(NUMBERS)}.py"
    path.write_text(request["text"])
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    arguments = [argument(*parameter) for parameter in request["parameters"]]
    kernel = getattr(module, request["name"])
    with np.errstate(all="ignore"):
        kernel[tuple(request["grid"])](*arguments, **request["constexprs"])
    return [memory.content() for memory in memories]


def main() -> None:
    descriptor, folder, *search_path = sys.argv[1:]
    here = str(Path(__file__).parent)
    sys.path[:] = [here, *search_path]
    os.environ["TRITON_INTERPRET"] = "1"
    sys.dont_write_bytecode = True
    tempfile.tempdir = folder
    from interpreter_repairs import repair

    repair()
    connection = Connection(int(descriptor))
    with suppress(EOFError):
        while True:
            request = connection.recv()
            os.ftruncate(sys.stderr.fileno(), 0)
            try:
                connection.send({"made": answer(request, Path(folder))})
            except Exception as error:
                connection.send({"error": f"{type(error).__name__}: {error}"})
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
