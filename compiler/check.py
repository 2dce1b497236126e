"""Say where a model would run, without generating code."""

from collections.abc import Sequence

from ..dialects.core.machine import NATIVE, find_machines
from ..dialects.core.mlir import new_context
from ..targets.place import Placement, placements
from .frontends.onnx import Bindings, Source, import_onnx
from .stages import candidates, pipeline_for


def check(
    model: Source,
    target: str = "cpu",
    *,
    shapes: Bindings | None = None,
    opt_level: int = 2,
    machine: str | Sequence[str] = NATIVE,
) -> tuple[Placement, ...]:
    """Return where each kernel of a model would run, and why not on the target asked for.

    The arguments are those of `compile`, and so are the errors: CompileError for a model that
    would not compile.
    """
    pipeline = pipeline_for(target, opt_level, find_machines(machine)[0].name)
    with new_context():
        module = import_onnx(model, shapes=shapes)
        pipeline.run(module)
        return tuple(placements(module, candidates(target)))
