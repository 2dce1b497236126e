"""Which passes run, in which order, for a target and an optimisation level."""

from ..passes.core import Pass
from ..passes.default import default_pipeline, grouping_pipeline
from ..passes.pipeline import Pipeline
from ..targets.options import DEFAULT, Options
from ..targets.place import Place
from ..targets.registry import find_target

HOST = "host"


def pipeline_for(
    target: str,
    opt_level: int,
    options: Options = DEFAULT,
) -> Pipeline:
    """Return the pipeline from an imported model to a placed one, for the best of the machines.

    Raises CompileError for a target that there is not.
    """
    chosen = find_target(target)
    passes: tuple[Pass, ...] = (
        *default_pipeline(opt_level, options.strict, chosen.quantized),
        *chosen.passes(opt_level, options),
        *grouping_pipeline(opt_level),
        Place(candidates(target)),
    )
    return Pipeline(passes)


def candidates(target: str) -> tuple[str, ...]:
    """List the targets that are asked in order to take an op: after all others, the host."""
    return tuple(dict.fromkeys((target, HOST)))
