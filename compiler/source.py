"""Find the format of a model and read the model; `formats` has the formats."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..dialects.core.arguments import listed
from ..dialects.core.discovery import import_all, load_plugins
from ..dialects.core.errors import CompileError
from ..dialects.core.module import Module
from ..passes.bind_sizes import bind_decided_sizes
from ..passes.cut_model import CutModel
from ..passes.keep_values import KeepValues
from ..targets.options import DEFAULT, CompileOptions
from . import formats as built_in
from .format import FORMATS, Format
from .generation.description import described_decoder
from .generation.prepare import prepare_generation
from .generation.sizes import with_bound_sizes
from .sizes.free import need_static
from .states import declare_states

if TYPE_CHECKING:
    from ..passes.quantize.apply_scales import Scales
    from ..runtime.package import Package
    from .frontends.exported.graph import Program
    from .frontends.onnx import Source as OnnxSource
    from .frontends.pnnx import Graph
    from .frontends.torch.torch_types import TorchModule

    Source = OnnxSource | Graph | Program | TorchModule
else:
    Source = Any  # the types of a source are those of libraries that may be missing

FALLBACK = "onnx"
"""The format of a model that no format accepts: files with other names, bytes, protos."""


def formats() -> dict[str, Format]:
    """Return all formats by name: those of Trivium, then those of plugins."""
    import_all(built_in.__name__)
    load_plugins()
    return FORMATS


def find_format(source: Any) -> Format:
    """Return the format of a model; raise CompileError when several formats accept it."""
    known = formats()
    found = [each for each in known.values() if each.accepts(source)]
    if len(found) > 1:
        names = " and ".join(each.name for each in found)
        raise CompileError(f"{_spell(source)} is of several formats: {names}")
    return found[0] if found else known[FALLBACK]


def import_model(source: "Source | Package", options: CompileOptions = DEFAULT) -> Module:
    """Translate a model to a `tri` module in the current context.

    `options` bind sizes and values; sizes that nothing binds are symbols. With `quantization` it is
    simplified and quantised, with `generate` it is the step of a decoder. Raises CompileError as
    the frontend of the format does, and for a package.
    """
    if find_format(source).is_compiled:
        raise CompileError(
            f"{_spell(source)} is a package, must be a model: it is compiled already"
        )
    if options.quantization:
        return _quantized(source, options.quantization, options)
    if not options.generate:
        return read_model(source, options)
    known = described_decoder(find_format(source).describe_decoder(source), options)
    with _opened(source, options) as read:
        module = read(with_bound_sizes(read, known, options))
    prepare_generation(module, known)
    return module


def _quantized(source: Any, scales: "Scales", options: CompileOptions) -> Module:
    """Read a model, simplify it and quantise it by scales."""
    from ..passes.quantize.apply_scales import apply_scales

    if options.generate:
        raise CompileError(
            "quantization is for models that run as a whole, generate makes a step: give only one"
        )
    if options.refit:
        raise CompileError(
            "quantization makes integers of weights, refit updates those of the source: give only "
            "one"
        )
    module = read_model(source, options)
    need_static(module, "scales are for models of exact sizes")
    apply_scales(module, scales)
    return module


def read_model(source: Any, options: CompileOptions = DEFAULT) -> Module:
    """Read a model, IR, or the placed IR of a package, in the current context.

    Sizes that a model leaves free, but takes only one value of, have that value. Raises
    CompileError and PackageError.
    """
    with _opened(source, options) as read:
        return read(options)


@contextmanager
def _opened(source: Any, options: CompileOptions) -> Generator[Callable[[CompileOptions], Module]]:
    """Give a function that reads a model with options, which may differ in sizes and states."""
    form = find_format(source)
    if not form.takes_example_inputs:
        _check_no_examples(source, options)
    with form.open(source, options) as read_with:

        def read(given: CompileOptions) -> Module:
            module = read_with(given)
            if not form.is_compiled:
                CutModel(listed(given.inputs), listed(given.outputs)).run(module)
                KeepValues(listed(given.keep)).run(module)
                declare_states(module, given.states or {})
            bind_decided_sizes(module)
            return module

        yield read


def _check_no_examples(source: Any, options: CompileOptions) -> None:
    """Raise CompileError for options that are for models of another format."""
    given = options.example_inputs
    names = [
        name
        for name in ("example_inputs", "example_inputs2", "dynamic_shapes")
        if getattr(options, name) is not None
    ]
    for name in [*names, *["converter"] * (options.converter != DEFAULT.converter)]:
        advice = f"; say target='{given}' by name" if isinstance(given, str) else ""
        fault = f"{name} are for torch modules, the model is {_spell(source)}"
        raise CompileError(fault + advice)


def _spell(source: Any) -> str:
    return f"'{source}'" if isinstance(source, (str, os.PathLike)) else type(source).__name__
