"""The data that the steps of a package may use while it is loaded."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from .contents import Contents
from .evaluation import Evaluation

T = TypeVar("T")


class Loader:
    """Offer the contents of a package to its steps, and what the user has given.

    `options` are those that a session is made with: `device`, `dialects`, `drivers`. `machine`
    names what the native code in use was made for; the steps that load it set it. `evaluate`
    returns what computes the sizes of a package with symbols.
    """

    def __init__(
        self,
        contents: Contents,
        entries: Mapping[str, memoryview],
        options: Mapping[str, Any],
        evaluate: Callable[[], Evaluation],
    ) -> None:
        self.contents = contents
        self._evaluate = evaluate
        self.entries = entries
        self.options = options
        self.machine = ""
        self._made: dict[object, object] = {}

    @property
    def evaluation(self) -> Evaluation:
        """Return what computes the sizes of the package."""
        return self._evaluate()

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Return what `make` returns: the same for all steps that ask with this key."""
        if key not in self._made:
            self._made[key] = make()
        return cast("T", self._made[key])
