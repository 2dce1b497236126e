"""From a model to a session: frontend, passes, placement, code, package."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..dialects.core.attributes import types_read_once
from ..dialects.core.machine import NATIVE
from ..dialects.core.mlir import new_context
from ..dialects.core.tensor import Array
from ..passes.pipeline import Instrumentation
from ..runtime.package import SUFFIX, Package
from ..runtime.session import Session
from ..targets.core import Progress
from ..targets.options import F32, FAST, FLOATS, Options
from .arguments import checked_arguments
from .build import build_module
from .compare import compare
from .frontends.core.bindings import Bindings
from .rebuild import rebuild
from .source import Source, import_model, is_torch_module, name_of
from .stages import pipeline_for
from .verdicts import strict_hooks


@checked_arguments()
def compile(
    model: Source | Package,
    example_inputs: Any = None,
    *,
    target: str = "cpu",
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
    opt_level: int = 2,
    math: str = FAST,
    winograd_error: float | None = None,
    tuning: str = "",
    tune: str = "",
    machine: str | Sequence[str] = NATIVE,
    precision: str = F32,
    candidates: bool = False,
    quantized: str = FLOATS,
    strict: bool = False,
    progress: Progress | None = None,
    hooks: Sequence[Instrumentation] = (),
    threads: int | None = None,
) -> Session:
    """Compile a model and return a session that runs it.

    `model` is the path of an ONNX file, its bytes, or an `onnx.ModelProto`; or the path of a PNNX
    file (`.pnnx.param`, with its `.pnnx.bin` beside it), or a `pnnx.Graph`; or of IR (`.mlir`) that
    was exported with its weights; or a `torch.nn.Module`
    with `example_inputs`, the tensors that it is called on, whose shapes and types are those of the
    compiled model: it is traced, and converted by `pnnx`, which `trivium[torch]` installs, and a
    warning says when what comes of it computes something else on the example. `target` is where it
    should run: `cpu`, `host`, or a GPU by its architecture, `gpu:sm_90`, for several of which there
    can be code, `gpu:sm_80,sm_90`; what that target does not take runs on its fallbacks, in the end
    on the host, by reference kernels, or with `strict` is an error that lists all of it, but for
    what brings values to an accelerator: casts, and orders of axes. `shapes` gives sizes to
    symbolic dimensions (`{"N": 1}`) or to whole inputs (`{"x": (1, 3)}`); `constants` fixes inputs
    to values. `opt_level` is 0 (as written), 1 (folding) or 2 (fusion).
    `math` is "fast" or "strict", without approximations; `winograd_error` is what a layer may lose
    by Winograd's method, relative to its largest output: see docs/numerics.md. `tuning` is a file
    of measured schedules, `tune` one that this compilation may add to: see docs/tuning.md.
    `machine` is the CPU that native code is made for: this one, or a level of x86-64 such as
    `x86-64-v3`; for several, the package has code for each, and a session takes the best that its
    CPU can run. `precision` is what f32 is computed in: "f32", "tf32" (in products, on a GPU),
    "fp16" or "bf16"; inputs and outputs keep their types. `quantized` is what a quantised model is
    computed in: "floats", or "integers" alone: see docs/quantization.md. With `candidates`, a
    package for a GPU holds its kernels with other settings too, for the command tune to measure.
    `progress` is called with a line of text as work goes on. `hooks` see the IR around each pass,
    such as `PrintIr` and `WriteIr` of `trivium.passes.instrumentation`: see docs/opt.md. The
    session runs on up to `threads` threads, by default one for each core. A package, open or by
    its path (`.trv`), has the IR in it compiled again for a machine, with the math that it was
    compiled with; `threads` and `progress` apart, the other arguments then mean nothing. Raises
    CompileError, which lists everything that is wrong.
    """
    choices = (math, winograd_error, tuning, tune, machine, precision, candidates, quantized)
    rest = (progress, example_inputs, strict, hooks)
    package = build(model, target, shapes, constants, opt_level, *choices, *rest)
    session = Session(package, threads=threads)
    if is_torch_module(model):
        compare(session, model, example_inputs)
    return session


@checked_arguments()
def build(
    model: Source | Package,
    target: str = "cpu",
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
    opt_level: int = 2,
    math: str = FAST,
    winograd_error: float | None = None,
    tuning: str = "",
    tune: str = "",
    machine: str | Sequence[str] = NATIVE,
    precision: str = F32,
    candidates: bool = False,
    quantized: str = FLOATS,
    progress: Progress | None = None,
    example_inputs: Any = None,
    strict: bool = False,
    hooks: Sequence[Instrumentation] = (),
) -> Package:
    """Compile a model to a package; arguments and errors are those of `compile`."""
    report = progress or _ignore
    if isinstance(model, (str, os.PathLike)) and Path(model).suffix == SUFFIX:
        model = Package.open(model)
    if isinstance(model, Package):
        return rebuild(model, machine, report)
    choices = (math, winograd_error, tuning, tune, machine, precision, (), candidates, quantized)
    options = Options(*choices)
    pipeline = pipeline_for(target, opt_level, options)
    with new_context(), types_read_once():
        report("import")
        module = import_model(
            model, shapes=shapes, constants=constants, example_inputs=example_inputs
        )
        watches = (*strict_hooks(strict, module, target), *hooks)
        name = name_of(model)
        return build_module(module, pipeline, target, report, name, options, hooks=watches)


def _ignore(line: str) -> None:
    """Stand in for whoever wants to hear of progress."""
