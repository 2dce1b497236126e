"""Which passes run, in which order, for a target and an optimisation level."""

from ..dialects.core.machine import NATIVE, find_machine
from ..passes.core import Pass
from ..passes.default import default_pipeline, grouping_pipeline
from ..passes.pipeline import Pipeline
from ..targets.place import Place
from ..targets.registry import find_target

HOST = "host"


def pipeline_for(target: str, opt_level: int, machine: str = NATIVE) -> Pipeline:
    """Return the pipeline from an imported model to a placed one, for a machine.

    Raises CompileError for a target or a machine that there is not.
    """
    chosen = find_target(target)
    find_machine(machine)
    passes: tuple[Pass, ...] = (
        *default_pipeline(opt_level),
        *chosen.passes(opt_level, machine),
        *grouping_pipeline(opt_level),
        Place(candidates(target)),
    )
    return Pipeline(passes)


def candidates(target: str) -> tuple[str, ...]:
    """List the targets that are asked in order to take an op: after all others, the host."""
    return tuple(dict.fromkeys((target, HOST)))
