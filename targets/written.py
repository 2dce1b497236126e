"""Write sizes into manifests."""

from typing import Any, cast

from ..dialects.core.sizes.atoms import is_symbolic


def written(value: Any) -> Any:
    """Return the text of a size that depends on symbols, or of all those in a tuple."""
    if isinstance(value, tuple):
        return tuple(map(written, cast("tuple[Any, ...]", value)))
    return str(value) if is_symbolic(value) else value
