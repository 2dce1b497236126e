"""Write a `tri` module as a pair of PNNX files."""

import os

from ....dialects.core.errors import CompileError, Unsupported
from ....dialects.core.module import Module
from ...frontends.pnnx import Graph, write_pnnx
from ..flow import Flow
from . import rules as rules
from .graph import RULES, PnnxGraph


def export_pnnx(module: Module) -> Graph:
    """Return the PNNX graph of a module, whose weights are those of the module, not copied.

    Inputs and outputs are in order; PNNX has no names for them. Raises CompileError with all ops
    that torch does not have.
    """
    flow = Flow(module)
    try:
        graph = PnnxGraph(flow)
        RULES.apply(flow, graph)
        return graph.finish()
    except Unsupported as error:  # of an input, or of a constant that is an output
        raise CompileError(f"the model {error}") from None


def save_pnnx(module: Module, path: str | os.PathLike[str]) -> None:
    """Write the PNNX files of a module: `path`, and the weights beside it in a `.bin`.

    Raises CompileError when PNNX lacks ops, or the files cannot be written.
    """
    graph = export_pnnx(module)
    write_pnnx(graph, path, os.path.splitext(path)[0] + ".bin")
