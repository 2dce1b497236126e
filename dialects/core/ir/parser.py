"""Files of IR from untrusted sources: text, or bytecode of MLIR."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import CompileError
from ..mlir import ir
from .bytecode import MAGIC, read_bytecode
from .diagnostics import compile_error
from .text import check_text


def text_of_ir(data: bytes, file: str, models: Sequence[str] = ()) -> str:
    """Return the IR in a file as text that MLIR's parser can be given.

    `models` are the suffixes of files that the caller reads as models, for the error.
    Raises CompileError for a file that is neither text nor bytecode, or that would crash MLIR.
    """
    if data.startswith(MAGIC):
        return read_bytecode(data, file)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        other = f", and ends in none of {', '.join(models)}" if models else ""
        raise CompileError(f"'{file}' is neither text nor MLIR bytecode{other}") from None
    check_text(text, file)
    return text


def parse_ir(file: str) -> ir.Module:
    """Parse a file of IR in the current context; raises CompileError."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise CompileError(f"cannot open '{file}': {error.strerror}") from None
    text = text_of_ir(data, file)
    try:
        # MLIR reads text by itself, so that locations name the file.
        return ir.Module.parse(text) if data.startswith(MAGIC) else ir.Module.parseFile(file)
    except ir.MLIRError as error:
        raise compile_error(error) from None
