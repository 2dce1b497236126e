"""Programs of torch.export, and the archives of them."""

import os
from typing import Any

from ...dialects.core.module import Module
from ...targets.options import CompileOptions
from ..format import Format


class Exported(Format):
    """Programs of torch.export: a .pt2 file, which needs no torch, or an ExportedProgram."""

    name = "pt2"
    suffixes = (".pt2",)

    def accepts(self, source: Any) -> bool:
        if isinstance(source, (str, bytes, os.PathLike)):
            return super().accepts(source)
        from ..frontends.exported.export import is_exported_program
        from ..frontends.exported.graph import Program

        return isinstance(source, Program) or is_exported_program(source)

    def read(self, source: Any, options: CompileOptions) -> Module:
        from ..frontends.exported.export import is_exported_program, read_exported
        from ..frontends.exported.importer import import_exported

        program = read_exported(source) if is_exported_program(source) else source
        return import_exported(program, shapes=options.shapes, constants=options.constants)
