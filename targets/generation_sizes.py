"""The option `generate`: for how many tokens and texts a decoder is compiled."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from ..dialects.core.arguments import checked, mapping, whole_number
from ..dialects.core.errors import CompileError, Invalid

_MOST = 1 << 31
CAPACITY = 4096
"""The most tokens of a text, unless the user or the model says otherwise."""


@dataclass(frozen=True)
class GenerationSizes:
    """Limit the tokens of a text and of a step of a decoder, and the texts at once.

    A text has at most `capacity` tokens, a step takes at most `chunk` tokens of each of at most
    `batch` texts. A capacity of None is `CAPACITY`, or less where a model is made for less.
    """

    capacity: int | None = None
    chunk: int = 256
    batch: int = 1

    def capacity_within(self, context: int | None) -> int:
        """Return the most tokens of a text, for a model that is made for up to `context` tokens.

        Raises CompileError for a capacity beyond that.
        """
        most = _MOST if context is None else context
        if self.capacity is not None and self.capacity > most:
            raise CompileError(
                f"generate has a capacity of {self.capacity}, the model is made for texts of up to "
                f"{most} tokens: compile it with that capacity at most"
            )
        return min(CAPACITY, most) if self.capacity is None else self.capacity


NAMES = tuple(each.name for each in fields(GenerationSizes))


def sizes_of_generation(value: Any) -> GenerationSizes:
    """Check sizes by name; True is the defaults."""
    if isinstance(value, GenerationSizes):
        return value
    given = mapping("sizes")({} if value is True else value)
    for name in given:
        if name not in NAMES:
            raise Invalid(f"has '{name}', must have sizes of {', '.join(NAMES)}")
    sizes = {name: checked(name, each, whole_number(1, _MOST)) for name, each in given.items()}
    return GenerationSizes(**sizes)


def generation_text(text: str) -> Mapping[str, int]:
    """Parse `capacity=4096,batch=8`."""
    pairs = [each.partition("=") for each in text.split(",") if each]
    if not all(size.isdecimal() for _, _, size in pairs):
        raise ValueError(f"must be like {NAMES[0]}=4096,{NAMES[2]}=8")
    if len({name for name, _, _ in pairs}) != len(pairs):
        raise ValueError("has a name twice, must have each once")
    return cast("Mapping[str, int]", {name: int(size) for name, _, size in pairs})
