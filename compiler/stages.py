"""Which passes run, in which order, for a target and an optimisation level."""

from dataclasses import replace

from ..passes.core import Pass
from ..passes.default import default_pipeline, grouping_pipeline
from ..passes.eliminate import Eliminate
from ..passes.fold.fold_casts import FoldCasts
from ..passes.lower_precision import LowerPrecision
from ..passes.pipeline import Pipeline, Step
from ..passes.quantize.lower_quantized import LowerQuantized
from ..targets.options import DEFAULT, F32, INTEGERS, Options
from ..targets.place import Place
from ..targets.registry import find_target, split_target


def pipeline_for(
    target: str,
    opt_level: int,
    options: Options = DEFAULT,
) -> Pipeline:
    """Return the pipeline from an imported model to what a target compiles: a placed one.

    What the target leaves to others is made fit for them as far as they cannot do without.
    Raises CompileError for a target that there is not, and for options that it does not have.
    """
    chosen, *others = map(find_target, candidates(target))
    options = options_for(target, options)
    chosen.check(options)
    passes: tuple[Step, ...] = (
        *_integer_passes(options),
        *chosen.early_passes(options),
        *default_pipeline(opt_level, options.strict, chosen.quantized, chosen.prepares),
        *_precision_passes(options),
        *chosen.passes(opt_level, options),
        *(each for other in others for each in other.passes(0, options)),
        *grouping_pipeline(opt_level),
        Place(tuple(dict.fromkeys((chosen.choice(options), *chosen.fallbacks)))),
        *chosen.placed_passes(opt_level, options),
    )
    return Pipeline(passes)


def options_for(target: str, options: Options) -> Options:
    """Return options with the architectures that a target such as `gpu:sm_80,sm_90` names."""
    return replace(options, architectures=split_target(target)[1])


def candidates(target: str) -> tuple[str, ...]:
    """List the targets that are asked in order to take an op: the one named, its fallbacks."""
    name = split_target(target)[0]
    return tuple(dict.fromkeys((name, *find_target(name).fallbacks)))


def _integer_passes(options: Options) -> tuple[Pass, ...]:
    """Return what makes quantised ops integer ones, before anything else looks at them."""
    return (Eliminate(), LowerQuantized()) if options.quantized == INTEGERS else ()


def _precision_passes(options: Options) -> tuple[Pass, ...]:
    if options.element_type == F32:
        return ()
    return (LowerPrecision(options.element_type), FoldCasts(), Eliminate())
