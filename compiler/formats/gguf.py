"""The format GGUF of llama.cpp."""

from typing import Any

from ...dialects.core.module import Module
from ...targets.options import CompileOptions
from ..format import Format


class Gguf(Format):
    """GGUF files: language models of llama.cpp, with weights of few bits."""

    name = "gguf"
    suffixes = (".gguf",)

    def read(self, source: Any, options: CompileOptions) -> Module:
        from ..frontends.gguf import import_gguf

        return import_gguf(source, shapes=options.shapes, constants=options.constants)
