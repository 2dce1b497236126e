"""Put programs for exact sizes into the package of a model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...runtime.contents import RunSettings
from ...runtime.file.vouching import vouched
from ...runtime.manifest import ExactProgram
from ...runtime.package import Package
from ...targets.core import Target
from ...targets.memory.weight_pool import WeightPools
from ..assemble import Assembled, Data, weights_in, with_weights

Sizes = Mapping[str, int]


def combined(
    main: Assembled,
    programs: Sequence[tuple[Sizes, Assembled]],
    pools: WeightPools,
    targets: Sequence[Target],
) -> Package:
    """Make a package of the program for all sizes, or an outline, and of those for exact sizes.

    Entries of equal bytes are stored once; `targets` make one of those that share some contents.
    `pools` have the weights of all, and are used up.
    """
    programs = _shared(programs, targets)
    weights = weights_in(pools)
    described = with_weights(main, weights)
    entries = dict(described.entries)
    stored = {_content(data): name for name, data in entries.items()}
    exact: list[ExactProgram] = []
    for number, (sizes, assembled) in enumerate(programs):
        made = with_weights(assembled, weights)
        package = Package.create(replace(made.manifest, settings=RunSettings()), made.entries)
        listed = tuple(replace(entry, ranges=()) for entry in package.manifest.entries)
        exact.append(ExactProgram(sizes, replace(package.manifest, entries=listed)))
        for entry in package.manifest.entries:
            content = entry.size, entry.checksum
            name = stored.setdefault(content, f"exact/{number}/{entry.name}")
            entries.setdefault(name, package.entries[entry.name])
    return Package.create(replace(described.manifest, exact=tuple(exact)), entries)


def _shared(
    programs: Sequence[tuple[Sizes, Assembled]], targets: Sequence[Target]
) -> list[tuple[Sizes, Assembled]]:
    """Return programs with what targets make of the entries of all."""
    changed = {
        name: data
        for target in targets
        for name, data in target.shared_entries([each.entries for _, each in programs]).items()
    }
    return [
        (sizes, replace(each, entries={k: changed.get(k, v) for k, v in each.entries.items()}))
        for sizes, each in programs
    ]


def _content(data: Data) -> tuple[int, str]:
    entry = vouched("", memoryview(data))
    return entry.size, entry.checksum
