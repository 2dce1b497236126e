"""The option `generate`: for how many tokens and texts a decoder is compiled."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from ..dialects.core.arguments import checked, mapping, whole_number
from ..dialects.core.errors import Invalid

_MOST = 1 << 31


@dataclass(frozen=True)
class GenerationSizes:
    """Limit the tokens of a text and of a step of a decoder, and the texts at once.

    A text has at most `capacity` tokens, a step takes at most `chunk` tokens of each of at most
    `batch` texts.
    """

    capacity: int = 4096
    chunk: int = 256
    batch: int = 1

    def __post_init__(self) -> None:
        if self.chunk > self.capacity:
            object.__setattr__(self, "chunk", self.capacity)


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
