"""IR in files of MLIR's text or bytecode."""

from pathlib import Path
from typing import Any

from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...targets.options import CompileOptions
from ..format import Format

BYTECODE_SUFFIX = ".mlirbc"


class Mlir(Format):
    """IR of Trivium: MLIR's text or bytecode, with the weights in a file beside it."""

    name = "mlir"
    suffixes = (".mlir", BYTECODE_SUFFIX)
    has_levels = False
    writes_symbols = True

    def read(self, source: Any, options: CompileOptions) -> Module:
        from ..ir_files import load_ir

        if options.shapes or options.constants:
            raise CompileError(f"'{source}' is IR: its shapes are static, it takes no bindings")
        return load_ir(source)

    def write(self, module: Module, path: str) -> None:
        from ..ir_files import save_ir

        save_ir(module, path, bytecode=Path(path).suffix == BYTECODE_SUFFIX)
