"""Say where a model would run, by kernels or by nodes, without generating code."""

from collections.abc import Sequence
from typing import Any

from ..dialects.core.attributes import types_read_once
from ..dialects.core.machine import NATIVE
from ..dialects.core.mlir import new_context
from ..passes.parts import InlineParts
from ..targets.options import F32, FAST, FLOATS, Options
from ..targets.place import Placement
from .arguments import checked_arguments
from .frontends.core.bindings import Bindings
from .source import Source, import_model
from .stages import pipeline_for
from .support_report import NodeSupport, Strict, SupportLog, node_support, placements


@checked_arguments()
def check(
    model: Source,
    example_inputs: Any = None,
    *,
    target: str = "cpu",
    shapes: Bindings | None = None,
    opt_level: int = 2,
    math: str = FAST,
    winograd_error: float | None = None,
    tuning: str = "",
    machine: str | Sequence[str] = NATIVE,
    precision: str = F32,
    quantized: str = FLOATS,
    strict: bool = False,
) -> tuple[Placement, ...]:
    """Return where each kernel of a model would run, and why not on the target asked for.

    The arguments are those of `compile`, and so are the errors: CompileError for a model that
    would not compile.
    """
    options = Options(
        math, winograd_error, tuning, machine=machine, precision=precision, quantized=quantized
    )
    pipeline = pipeline_for(target, opt_level, options).until(InlineParts.name)
    with new_context(), types_read_once():
        module = import_model(model, shapes=shapes, example_inputs=example_inputs)
        log = (Strict if strict else SupportLog)(module, target)
        pipeline.run(module, log)
        return tuple(placements(log, module))


@checked_arguments()
def can_run(
    model: Source,
    example_inputs: Any = None,
    *,
    target: str = "cpu",
    shapes: Bindings | None = None,
    opt_level: int = 2,
    math: str = FAST,
    winograd_error: float | None = None,
    tuning: str = "",
    machine: str | Sequence[str] = NATIVE,
    precision: str = F32,
    quantized: str = FLOATS,
) -> tuple[NodeSupport, ...]:
    """Return for each node of a model whether it would run on a target, and why not.

    Constants are no nodes, and neither is what was known as the model was read. The arguments are
    those of `compile`, and so are the errors: CompileError for a model that would not compile.
    """
    options = Options(
        math, winograd_error, tuning, machine=machine, precision=precision, quantized=quantized
    )
    pipeline = pipeline_for(target, opt_level, options).until(InlineParts.name)
    with new_context(), types_read_once():
        module = import_model(model, shapes=shapes, example_inputs=example_inputs)
        log = SupportLog(module, target)
        pipeline.run(module, log)
        return tuple(node_support(log, module))
