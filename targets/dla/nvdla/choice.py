"""Which configuration a user means: `nvdla:nv_small`, or `nvdla:wide.toml` for a file of a user."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from ....dialects.core.errors import CompileError
from .configuration import Configuration, find_configuration, read_configurations

NAME = "nvdla"
DEFAULT = "nv_full"


@dataclass(frozen=True)
class Choice:
    """A configuration by its name, or by a TOML file that has one, and how all of them compute.

    Passes share one object, so that a file is read once.
    """

    text: str = DEFAULT

    @staticmethod
    def parse(text: str) -> "Choice":
        """Return the choice that a pass's option spells."""
        return Choice(text)

    def __str__(self) -> str:
        return self.text

    @cached_property
    def configuration(self) -> Configuration:
        """Return the configuration.

        Raises CompileError for a name that is not known, a file that cannot be read, and a file
        that does not have exactly one configuration.
        """
        if not self.text.endswith(".toml"):
            return find_configuration(self.text)
        try:
            text = Path(self.text).read_text()
        except OSError as error:
            raise CompileError(f"{self.text}: error: {error.strerror}") from None
        return only_configuration(text, self.text)

    @property
    def name(self) -> str:
        """Return the name of the accelerator, with its configuration."""
        return self.configuration.name

    @property
    def rounding(self) -> str:
        """Return how shifts to the right round."""
        return "half_away"

    @property
    def multiplier_bits(self) -> int:
        """Return the bits of a multiplier without its sign."""
        return 15


def only_configuration(text: str, file: str) -> Configuration:
    """Return the configuration of a TOML text; raise CompileError unless there is one."""
    found = list(read_configurations(text, file).values())
    if len(found) != 1:
        names = ", ".join(each.name for each in found) or "none"
        raise CompileError(f"{file}: error: has configurations {names}, must have one")
    return found[0]


def toml_text(configuration: Configuration) -> str:
    """Return the TOML text of a configuration, which `only_configuration` reads."""
    return "".join(f"{line}\n" for line in _lines(configuration.name, asdict(configuration)))


def _lines(name: str, table: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a table; what it has not is left out, and its own tables come last."""
    yield f"[{name}]"
    for key, value in table.items():
        if key != "name" and value is not None and not isinstance(value, dict):
            # Of numbers, texts and lists, JSON is TOML.
            yield f"{key} = {json.dumps(value)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _lines(f"{name}.{key}", cast(dict[str, Any], value))
