"""Packages, whose placed IR can be read again."""

from typing import Any

from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...runtime import SUFFIX, Package
from ...targets.options import CompileOptions
from ..format import Format


class CompiledPackage(Format):
    """Packages of Trivium: compiled models, whose IR can be compiled again or exported."""

    name = "package"
    suffixes = (SUFFIX,)
    is_compiled = True
    has_levels = False

    def accepts(self, source: Any) -> bool:
        return super().accepts(source) or isinstance(source, Package)

    def read(self, source: Any, options: CompileOptions) -> Module:
        from ..packaged import packaged_module

        if options.shapes:
            message = "shapes are given for a package, must be left out: its own are static"
            raise CompileError(message)
        return packaged_module(source if isinstance(source, Package) else Package.open(source))
