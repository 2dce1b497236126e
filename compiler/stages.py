"""Which passes run, in which order, for targets and an optimisation level."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from ..dialects.core.arguments import listed
from ..passes.core import Pass
from ..passes.default import default_pipeline, grouping_pipeline
from ..passes.eliminate import Eliminate
from ..passes.fold.fold_casts import FoldCasts
from ..passes.inline_parts import InlineParts
from ..passes.lower_precision import LowerPrecision
from ..passes.narrow_states import NarrowStates
from ..passes.pack_narrow import PackNarrow
from ..passes.parts import ANCHOR
from ..passes.pipeline import Nest, Pipeline, Step
from ..passes.quantize.lower_quantized import LowerQuantized
from ..passes.quantize.round_activations import RoundActivations
from ..runtime.contents import PROCESS
from ..targets.choices import AS_GIVEN, EXACT, F32, INTEGERS, STATE_TYPES
from ..targets.core import Target
from ..targets.options import DEFAULT, CompileOptions
from ..targets.placement.insert_copies import InsertCopies
from ..targets.placement.partition import Partition
from ..targets.placement.place import Place
from ..targets.registry import choose_targets


def pipeline_for(target: str, opt_level: int, options: CompileOptions = DEFAULT) -> Pipeline:
    """Return the pipeline from an imported model to a placed one, which targets compile.

    `target` lists targets in the order of preference. The model is simplified, then divided into
    parts by target; the passes of each target run on its parts. Raises CompileError for an unknown
    target, for options that the first target does not have, and for passes to disable that are not
    there, or that others need.
    """
    targets = choose_targets(target)
    first = targets[0]
    first.check(options)
    prepares = all(each.prepares for each in targets)
    selecting = _selecting(targets, opt_level, options)
    passes: tuple[Step, ...] = (
        *_state_passes(options),
        *_integer_passes(options),
        *(step for each in selecting for step in each.early_passes(options)),
        *default_pipeline(
            opt_level, options.strict_math, first.quantized, prepares, first.narrow_factors
        ),
        *activation_passes(options),
        *_precision_passes(options),
        *(step for each in selecting for step in each.selection_passes(opt_level, options)),
        Partition(tuple(each.choice for each in targets), options.placement),
        *(_part(targets[n:], opt_level, _options_of(n, options)) for n in range(len(targets))),
        InlineParts(),
        *([InsertCopies()] if any(each.memory.name != PROCESS for each in targets) else []),
        *(each_pass for each in targets for each_pass in each.placed_passes(opt_level, options)),
    )
    return Pipeline(passes).without(listed(options.disable))


def _selecting(targets: Sequence[Target], opt_level: int, options: CompileOptions) -> list[Target]:
    """Return the targets at the head of a list that select ops before placement.

    What a target selects no other one runs: behind a target without selection, it would take ops
    from targets that the user prefers.
    """
    return list(
        takewhile(
            lambda each: each.early_passes(options) or each.selection_passes(opt_level, options),
            targets,
        )
    )


def _part(targets: Sequence[Target], opt_level: int, options: CompileOptions) -> Nest:
    """Return the passes on the parts of the first target; the others take what it refuses then."""
    steps = (
        *targets[0].passes(opt_level, options),
        PackNarrow(),
        *grouping_pipeline(opt_level),
        Place(tuple(each.choice for each in targets)),
    )
    return Nest(f"{ANCHOR}{targets[0].name}", steps)


def _options_of(number: int, options: CompileOptions) -> CompileOptions:
    """Return the options of a target by its number; a tuning file is for the first one."""
    return options if number == 0 else replace(options, tuning="", tune="")


def _integer_passes(options: CompileOptions) -> tuple[Pass, ...]:
    """Return the passes that lower quantised ops to integer ops, before all others."""
    return (Eliminate(), LowerQuantized()) if options.quantized == INTEGERS else ()


def activation_passes(options: CompileOptions) -> tuple[Pass, ...]:
    """Return the passes that overrule what the model says of activations."""
    if options.activations == AS_GIVEN:
        return ()
    return (RoundActivations("" if options.activations == EXACT else options.activations),)


def _state_passes(options: CompileOptions) -> tuple[Pass, ...]:
    dtype = STATE_TYPES.get(options.state_precision)
    return (NarrowStates(dtype),) if dtype else ()


def _precision_passes(options: CompileOptions) -> tuple[Pass, ...]:
    if options.element_type == F32:
        return ()
    full = listed(options.keep_f32)
    return (LowerPrecision(options.element_type, full), FoldCasts(), Eliminate())
