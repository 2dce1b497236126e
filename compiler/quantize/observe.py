"""Run a model compiled for the CPU with all values to be quantised as results, and look at them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ...dialects.core.interface import input_names, set_results
from ...dialects.core.module import Module
from ...dialects.core.tensor import Array
from ...passes.quantize.quantizable import is_moved, names_of, quantizable
from ...runtime.session import Session
from ...targets.core import Progress
from .ranges import Form, Seen
from .variants import compiled, copied

Feed = Mapping[str, Array]
Run = Callable[[Feed], Mapping[str, Array]]

MOST_SHARES = 32
"""Into how many shares batches are divided at most; each returns a histogram of every value."""

Item = TypeVar("Item")
Found = TypeVar("Found")


class Spread(Protocol):
    """Calls a function with each of some items, in order or at once; results are in their order."""

    def __call__(
        self, function: Callable[[Item], Found], items: Sequence[Item], /
    ) -> Iterable[Found]: ...


@dataclass(frozen=True)
class Share:
    """Ask for bounds in every `step`th batch from `start` on, or for counts between `bounds`."""

    start: int
    step: int
    bounds: Mapping[str, Seen] | None = None


class ObservedModel:
    """Return what numbers values have in a share of the batches; it can be pickled."""

    def __init__(self, run: Run, feeds: Sequence[Feed], names: Sequence[str]) -> None:
        self._run, self._feeds, self._names = run, feeds, names

    def __call__(self, share: Share) -> dict[str, Seen]:
        bounds = share.bounds
        seen = {name: Seen.within(bounds[name]) if bounds else Seen() for name in self._names}
        look = Seen.count if bounds else Seen.widen
        for feed in self._feeds[share.start :: share.step]:
            arrays = self._run(feed)
            for name, each in seen.items():
                look(each, arrays[name])
        return seen


class Watched:
    """Run a model; return its results and all inputs."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, feed: Feed) -> Mapping[str, Array]:
        return {**feed, **self._session.run(feed)}


def observe(
    module: Module, feeds: Sequence[Feed], form: Form, progress: Progress, spread: Spread = map
) -> dict[str, Seen]:
    """Return what numbers the values to be quantised have, by their names.

    Those that are moved from others have the scales of those, and are left out. `spread` calls an
    `ObservedModel` with shares of the batches; what comes of it does not depend on the shares.
    """
    names = names_of(module)
    chosen = [value for value in quantizable(module) if not is_moved(value)]
    found = [names[value] for value in chosen if value in names]
    look = ObservedModel(watched(module, found, progress), feeds, found)
    count = min(len(feeds), MOST_SHARES)
    seen = _merged(spread(look, [Share(start, count) for start in range(count)]))
    if form.method != "minmax":
        seen = _merged(spread(look, [Share(start, count, seen) for start in range(count)]))
    return seen


def watched(module: Module, names: Collection[str], progress: Progress) -> Watched:
    """Return what runs a model and gives its values of some names, and all inputs."""
    inputs, made = input_names(module), copied(module)
    values = {name: value for value, name in names_of(made).items()}
    set_results(made, {name: values[name] for name in names if name not in inputs})
    return Watched(compiled(made, progress))


def _merged(shares: Iterable[Mapping[str, Seen]]) -> dict[str, Seen]:
    merged: dict[str, Seen] = {}
    for share in shares:
        merged = {
            name: seen.merge(merged[name]) if merged else seen for name, seen in share.items()
        }
    return merged
