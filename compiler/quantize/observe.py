"""Run a model compiled for the CPU with all values to be quantised as results, and look at them."""

from collections.abc import Callable, Mapping, Sequence

from ...dialects.core.module import Module
from ...dialects.core.tensor import Array
from ...passes.quantizable import is_moved, names_of, quantizable
from ...runtime.session import Session
from ..build import Progress
from .ranges import Form, Seen
from .variants import compiled, copied, input_names, set_results

Feed = Mapping[str, Array]


def observe(
    module: Module, feeds: Sequence[Feed], form: Form, progress: Progress
) -> dict[str, Seen]:
    """Return what numbers the values to be quantised have, by their names.

    Those that are moved from others have the scales of those, and are left out.
    """
    names = names_of(module)
    chosen = [value for value in quantizable(module) if not is_moved(value)]
    found = [names[value] for value in chosen if value in names]
    inputs = input_names(module)
    inner = [name for name in found if name not in inputs]
    watched = copied(module)
    values = {name: value for value, name in names_of(watched).items()}
    set_results(watched, {name: values[name] for name in inner})
    session = compiled(watched, progress)
    seen = {name: Seen() for name in found}
    _visit(session, feeds, seen, Seen.widen)
    if form.method != "minmax":
        _visit(session, feeds, seen, Seen.count)
    return seen


def _visit(
    session: Session,
    feeds: Sequence[Feed],
    seen: Mapping[str, Seen],
    look: Callable[[Seen, Array], None],
) -> None:
    for feed in feeds:
        arrays = {**feed, **session.run(feed)}
        for name, each in seen.items():
            look(each, arrays[name])
