"""Run a model compiled for the CPU with all values to be quantised as results, and look at them."""

from collections.abc import Callable, Collection, Mapping, Sequence

from ...dialects.core.interface import input_names, set_results
from ...dialects.core.module import Module
from ...dialects.core.tensor import Array
from ...passes.quantize.quantizable import is_moved, names_of, quantizable
from ...targets.core import Progress
from .ranges import Form, Seen
from .variants import compiled, copied

Feed = Mapping[str, Array]
Run = Callable[[Feed], Mapping[str, Array]]


def observe(
    module: Module, feeds: Sequence[Feed], form: Form, progress: Progress
) -> dict[str, Seen]:
    """Return what numbers the values to be quantised have, by their names.

    Those that are moved from others have the scales of those, and are left out.
    """
    names = names_of(module)
    chosen = [value for value in quantizable(module) if not is_moved(value)]
    found = [names[value] for value in chosen if value in names]
    run = watched(module, found, progress)
    seen = {name: Seen() for name in found}
    _visit(run, feeds, seen, Seen.widen)
    if form.method != "minmax":
        _visit(run, feeds, seen, Seen.count)
    return seen


def watched(module: Module, names: Collection[str], progress: Progress) -> Run:
    """Return what runs a model and gives its values of some names, and all inputs."""
    inputs, made = input_names(module), copied(module)
    values = {name: value for value, name in names_of(made).items()}
    set_results(made, {name: values[name] for name in names if name not in inputs})
    session = compiled(made, progress)
    return lambda feed: {**feed, **session.run(feed)}


def _visit(
    run: Run,
    feeds: Sequence[Feed],
    seen: Mapping[str, Seen],
    look: Callable[[Seen, Array], None],
) -> None:
    for feed in feeds:
        arrays = run(feed)
        for name, each in seen.items():
            look(each, arrays[name])
