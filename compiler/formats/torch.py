"""Torch modules, which are exported, or converted to PNNX."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...runtime.session import Session
from ...targets.choices import PNNX
from ...targets.options import CompileOptions
from ..format import OpenedFormat

if TYPE_CHECKING:
    from ..format import OpenedReader
    from ..frontends.pnnx.examples import Examples


class Torch(OpenedFormat):
    """A torch.nn.Module with example_inputs, exported by torch.export or converted by pnnx."""

    name = "torch"
    takes_example_inputs = True

    def accepts(self, source: Any) -> bool:
        if isinstance(source, (str, bytes, os.PathLike)):
            return False
        from ..frontends.torch.modules import is_torch_module

        return is_torch_module(source)

    def open(self, source: Any, options: CompileOptions) -> "OpenedReader":
        if options.example_inputs is None:
            name = self.name_of(source)
            advice = "give example_inputs, what it is called on"
            raise CompileError(f"'{name}' is a torch module: {advice}")
        by_pnnx = _by_pnnx(options)
        return nullcontext(_converted(source, options) if by_pnnx else _exported(source, options))

    def name_of(self, source: Any) -> str:
        return type(source).__name__

    def check_session(self, session: Session, source: Any, options: CompileOptions) -> None:
        from ..compare import compare

        if not _by_pnnx(options):
            return  # the type of each result was compared; pnnx alone loses parts without a word
        for inputs in _examples(source, options).all:
            compare(session, source, inputs)


def _by_pnnx(options: CompileOptions) -> bool:
    return options.converter == PNNX


def _exported(source: Any, options: CompileOptions) -> Callable[[CompileOptions], Module]:
    from ..frontends.exported.export import export_module, read_exported
    from ..frontends.exported.importer import import_exported

    examples = (options.example_inputs, options.dynamic_shapes, options.example_inputs2)
    program = read_exported(export_module(source, *examples))
    return lambda given: import_exported(program, shapes=given.shapes, constants=given.constants)


def _converted(source: Any, options: CompileOptions) -> Callable[[CompileOptions], Module]:
    from ..frontends.core.sizes.example_sizes import check_sizes
    from ..frontends.pnnx.examples import shapes_of
    from ..frontends.pnnx.importer import RULES, import_pnnx
    from ..frontends.pnnx.run_pnnx import convert_module

    examples = _examples(source, options)
    # A module with a rule of its own is not divided.
    graph = convert_module(source, examples, whole=RULES)

    def read(given: CompileOptions) -> Module:
        shapes = {**examples.ranges, **(given.shapes or {})}
        module = import_pnnx(graph, shapes=shapes, constants=given.constants)
        for inputs in examples.all:
            check_sizes(module, shapes_of(inputs))
        return module

    return read


def _examples(source: Any, options: CompileOptions) -> "Examples":
    from ..frontends.pnnx.examples import read_examples

    return read_examples(
        source, options.example_inputs, options.dynamic_shapes, options.example_inputs2
    )
