"""Values that a session keeps when it has run: `session.value`."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from numpy.typing import NDArray

from ..errors import RunError
from ..slots import quote

if TYPE_CHECKING:
    from .ports import Ports

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class KeptValues:
    """Hold the values of the last run that a package keeps, by name; each run makes new arrays."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = frozenset(names)
        self._values: dict[str, Any] = {}

    def take(self, results: dict[str, Any]) -> dict[str, Any]:
        """Take what is kept out of the results of a run; return the others."""
        if self.names:
            self._values = {name: results.pop(name) for name in self.names & results.keys()}
        return results

    def value(self, name: str) -> Any:
        """Return a value of the last run; raise RunError where there is none."""
        if name not in self.names:
            kept = f"it keeps {quote(sorted(self.names))}" if self.names else "it keeps none"
            raise RunError(
                f"the package does not keep '{name}', whose memory is used again in a run, {kept}: "
                f"compile the model again with keep=['{name}']"
            )
        if name not in self._values:
            raise RunError(f"'{name}' has no value yet: run the session first")
        return self._values[name]


class KeepsValues:
    """Let the values be read that a session keeps."""

    _busy: threading.Lock
    _ports: "Ports"

    def value(self, name: str) -> "NDArray[Any]":
        """Return what the last run computed for a value that `compile` was told to keep.

        It is alive as long as the caller holds it: the next run makes a new array. Raises RunError
        for a value that is not kept, and before the first run.
        """
        return self._alone(self._ports.kept.value, name)

    def _alone(self, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
        raise NotImplementedError
