"""Values that a session keeps when it has run: `session.value`."""

from collections.abc import Sequence
from typing import Any

from ..errors import RunError
from ..slots import quote


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
