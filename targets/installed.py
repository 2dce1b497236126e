"""Which targets there are: folders of this package, and what other distributions offer.

Another distribution offers a target by one entry point of the group `trivium.targets`. Its name is
that of the target, and it names the module that has it as TARGET:

    [project.entry-points."trivium.targets"]
    npu = "my_npu.target"

An accelerator has its packets beside that, as `dla/vanilla` has: `my_npu.packets` with a function
`instruction_set(file)`. So one entry point is enough for all of it, and what only reads, simulates
or prints packets does not import the target. Nothing here imports any of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..dialects.core.errors import CompileError

GROUP = "trivium.targets"
ATTRIBUTE, MAKER, OPENER = "TARGET", "instruction_set", "open_device"
HERE = Path(__file__).parent
OWNER = __name__.partition(".")[0]
"""The owner of the targets in this package."""


@dataclass(frozen=True, order=True)
class Origin:
    """Record the distribution and the module that offer something with the name of a target."""

    name: str
    owner: str
    module: str
    attribute: str = ATTRIBUTE

    def load(self) -> Any:
        """Import it; raise CompileError for what another distribution promises but lacks."""
        try:
            found: Any = import_module(self.module)
            for part in self.attribute.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            fault = f"target '{self.name}' of {self.owner} cannot be loaded"
            raise CompileError(f"{fault}: {error}") from None
        return found


@cache
def targets() -> tuple[Origin, ...]:
    """List where all targets are, by their names; a name that two have is there twice."""
    return tuple(sorted([*_folders(), *map(_target, _offered())]))


@cache
def accelerators() -> tuple[Origin, ...]:
    """List where the packets of all accelerators are: functions that make instruction sets."""
    files = (HERE / "dla").glob("*/packets.py")
    own = (_own(file.parent.name, f"dla.{file.parent.name}.packets", MAKER) for file in files)
    return tuple(sorted([*own, *_packets(_offered())]))


@cache
def devices() -> tuple[Origin, ...]:
    """List the accelerators that are simulated in a way of their own: functions that open one."""
    files = sorted((HERE / "dla").glob("*/device.py"))
    found = [each for each in files if each.parent.name != "core"]
    return tuple(_own(f.parent.name, f"dla.{f.parent.name}.device", OPENER) for f in found)


def foreign_targets() -> list[str]:
    """List the names of the targets that other distributions offer."""
    return sorted({point.name for point in _offered()})


def names(origins: Sequence[Origin]) -> list[str]:
    """List what is found, each name once."""
    return list(dict.fromkeys(origin.name for origin in origins))


def shipped(origins: Sequence[Origin]) -> list[Origin]:
    """List the origins in Trivium itself, without those of other distributions."""
    return [origin for origin in origins if origin.owner == OWNER]


def pick(kind: str, name: str, origins: Sequence[Origin]) -> Origin:
    """Return the only origin of a name; raise CompileError when there is none, or a second one."""
    found = [origin for origin in origins if origin.name == name]
    if not found:
        known = ", ".join(names(origins))
        raise CompileError(f"no {kind} is called '{name}', there are: {known}")
    if len(found) > 1:
        owners = " and ".join(f"{origin.module} of {origin.owner}" for origin in found)
        raise CompileError(f"two {kind}s are called '{name}': {owners}, remove one of them")
    return found[0]


def _own(name: str, module: str, attribute: str = ATTRIBUTE) -> Origin:
    return Origin(name, OWNER, f"{__package__}.{module}", attribute)


def _folders() -> Iterator[Origin]:
    for file in HERE.glob("*/target.py"):
        yield _own(file.parent.name, file.parent.name)
    # The packages of accelerators are imported for their packets, so they load no target.
    for file in HERE.glob("dla/*/target.py"):
        yield _own(file.parent.name, f"dla.{file.parent.name}.target")


def _offered() -> list[EntryPoint]:
    return list(entry_points(group=GROUP))


def _target(point: EntryPoint) -> Origin:
    return Origin(point.name, _owner(point), point.module, point.attr or ATTRIBUTE)


def _packets(points: Iterable[EntryPoint]) -> Iterator[Origin]:
    for point in points:
        module = f"{_package(point.module)}.packets"
        if _exists(module):
            yield Origin(point.name, _owner(point), module, MAKER)


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown distribution"


def _package(module: str) -> str:
    """Return the package that a module is in, which a package itself is."""
    try:
        spec = find_spec(module)
    except ImportError:
        return ""
    return (spec.parent or "") if spec else ""


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
