"""Read MLIR bytecode in a child process: MLIR's reader can crash, hang or use up all memory.

The child prints the module as text and parses this text again. The calling process parses only
text that has been parsed before, and no byte of the file itself.
"""

import os
import resource
import signal
import sys
from typing import TYPE_CHECKING

from ..errors import CompileError, Diagnostic
from ..mlir import ir, new_context
from .diagnostics import compile_error
from .text import check_text

if TYPE_CHECKING:
    import subprocess

MAGIC = b"ML\xefR"
"""The first bytes of every file of MLIR bytecode."""

MEMORY_BYTES, STACK_BYTES, CPU_SECONDS = 4 << 30, 2 << 20, 5
"""The limits of the child; memory and time grow with the file. The stack is smaller than that of
the calling process, so that text on which the child does not overflow it is safe to parse."""

REFUSED = 3
"""The exit code of a child that printed a message of MLIR."""


def read_bytecode(data: bytes, file: str) -> str:
    """Return the module in a file of bytecode as text in MLIR's generic form, with locations.

    `file` names it in errors. Raises CompileError, in one line, for bytes that MLIR refuses, on
    which its reader crashes, or for which it exceeds the limits.
    """
    import subprocess  # few files need it

    command = [sys.executable, "-P", "-m", __name__]
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    environment = {**os.environ, "PYTHONPATH": path}
    child = subprocess.run(command, input=data, capture_output=True, env=environment, check=False)
    if child.returncode == 0:
        return child.stdout.decode()
    raise CompileError([Diagnostic(file, f"is not MLIR bytecode: {_reason(child)}")])


def _reason(child: "subprocess.CompletedProcess[bytes]") -> str:
    """Explain in one line why the child printed no module."""
    words = child.stderr.decode(errors="replace").strip()
    if child.returncode == REFUSED:
        return " ".join(words.split())
    if child.returncode == -signal.SIGXCPU:
        return "MLIR's reader does not come to an end"
    if child.returncode < 0:
        return f"MLIR's reader crashes with {signal.Signals(-child.returncode).name}"
    raise RuntimeError(f"the reader of bytecode failed:\n{words}")


def main() -> int:
    """Print the module whose bytecode is on standard input."""
    data = sys.stdin.buffer.read()
    _limit(len(data))
    with new_context():
        try:
            text = _checked_text(data)
        except CompileError as error:
            print(error.diagnostics[0].message, file=sys.stderr)
            return REFUSED
    sys.stdout.buffer.write(text.encode())
    return 0


def _checked_text(data: bytes) -> str:
    """Return the text of a module, which MLIR parses; CompileError for any other bytes."""
    try:
        module = ir.Module.parse(data)
        text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
        check_text(text, "-")
        ir.Module.parse(text)
    except ir.MLIRError as error:
        raise compile_error(error) from None
    except MemoryError:
        raise CompileError("its parts need too much memory") from None
    except RuntimeError:  # the bindings cannot convert a message of MLIR
        raise CompileError("a string in it is not UTF-8") from None
    return text


def _limit(size: int) -> None:
    """Limit memory, stack and time of this process to what a file of `size` bytes may need."""
    limits = {
        resource.RLIMIT_AS: MEMORY_BYTES + 64 * size,
        resource.RLIMIT_CPU: CPU_SECONDS + (size >> 20),
        resource.RLIMIT_STACK: STACK_BYTES,
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        hard = resource.getrlimit(kind)[1]
        allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (allowed, hard))


if __name__ == "__main__":
    sys.exit(main())
