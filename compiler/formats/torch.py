"""Torch modules, which are converted to PNNX."""

import os
from typing import Any

from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...runtime.session import Session
from ...targets.options import CompileOptions
from ..format import Format


class Torch(Format):
    """A torch.nn.Module with example_inputs, traced and converted by pnnx."""

    name = "torch"
    takes_example_inputs = True

    def accepts(self, source: Any) -> bool:
        if isinstance(source, (str, bytes, os.PathLike)):
            return False
        from ..frontends.pnnx.run_pnnx import is_torch_module

        return is_torch_module(source)

    def read(self, source: Any, options: CompileOptions) -> Module:
        from ..frontends.pnnx.importer import RULES, import_pnnx
        from ..frontends.pnnx.run_pnnx import convert_module

        if options.example_inputs is None:
            name = self.name_of(source)
            advice = "give example_inputs, what it is called on"
            raise CompileError(f"'{name}' is a torch module: {advice}")
        # A module with a rule of its own is not divided.
        graph = convert_module(source, options.example_inputs, whole=RULES)
        return import_pnnx(graph, shapes=options.shapes, constants=options.constants)

    def name_of(self, source: Any) -> str:
        return type(source).__name__

    def check_session(self, session: Session, source: Any, options: CompileOptions) -> None:
        from ..compare import compare

        compare(session, source, options.example_inputs)
