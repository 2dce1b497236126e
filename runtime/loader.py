"""The data that the steps of a package may use while it is loaded."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from .contents import Contents
from .sizes.size_expressions import Size
from .sizes.values import SizeArray

T = TypeVar("T")


class Loader:
    """Offer the contents of a package to its steps, and what the user has given.

    `options` are those that a session is made with: `device`, `dialects`, `drivers`. `machine`
    names what the native code in use was made for; the steps that load it set it.
    """

    def __init__(
        self,
        contents: Contents,
        entries: Mapping[str, memoryview],
        options: Mapping[str, Any],
    ) -> None:
        self.contents = contents
        self.entries = entries
        self.options = options
        self.machine = ""
        self._made: dict[object, object] = {}

    def array(self, sizes: Sequence[Size]) -> SizeArray:
        """Return what makes an array of 64-bit numbers of sizes of a step, for each plan.

        A session has it by `array.at(state.values)` when it binds the step; the step must keep it
        while native code has its address.
        """
        return SizeArray(sizes)

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Return what `make` returns: the same for all steps that ask with this key."""
        if key not in self._made:
            self._made[key] = make()
        return cast("T", self._made[key])
