"""Loadables of NVDLA, which are compiled: other commands are for them."""

from typing import TYPE_CHECKING, Any

from ...dialects.core.errors import CompileError, Diagnostic
from ...targets.options import CompileOptions
from ..format import Format

if TYPE_CHECKING:
    from ..format import OpenedReader


class Loadable(Format):
    """Loadables of NVDLA: `trivium disasm` prints them, `trivium simulate` runs them."""

    name = "loadable"
    suffixes = (".nvdla",)

    def open(self, source: Any, options: CompileOptions) -> "OpenedReader":
        message = (
            "is a loadable of NVDLA, which is compiled, must be a model: trivium disasm prints it, "
            "trivium simulate runs it"
        )
        raise CompileError([Diagnostic(str(source), message)])
