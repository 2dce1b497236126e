"""Configurations of NVDLA, as data: `configurations.toml` has the published ones.

Another one is another table, read by `read_configurations`.
"""

import tomllib
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, cast

from ....dialects.core.errors import CompileError, suggestion
from .format.network import Precision
from .format.operations import ENGINE_TYPES

FILE = Path(__file__).with_name("configurations.toml")


@dataclass(frozen=True)
class Rates:
    """What a configuration does in a cycle: bytes of memory, and elements of the other engines.

    SDP has a rate of its own with stage Y.
    """

    memory_bytes: int
    sdp_elements: int
    sdp_y_elements: int
    pdp_elements: int
    cdp_elements: int


@dataclass(frozen=True)
class Configuration:
    """What a configuration of NVDLA has.

    `macs_channels` and `macs_kernels` are the MACs at 8 bits; `atom` and `entry` are bytes,
    `batch` the most images of a convolution; `compression` is that of weights, `pdp_buffer` the
    bytes that PDP has for a row of results.
    """

    name: str
    precisions: tuple[str, ...]
    macs_channels: int
    macs_kernels: int
    atom: int
    banks: int
    bank_entries: int
    entry: int
    engines: tuple[str, ...]
    sdp_stages: tuple[str, ...]
    sdp_lut: bool
    winograd: bool
    batch: int = 1
    compression: bool = False
    pdp_buffer: int = 7 << 10
    rates: Rates | None = None

    @property
    def bank_bytes(self) -> int:
        """Return the bytes of a bank of CBUF, the buffer of convolutions."""
        return self.bank_entries * self.entry

    def atom_elements(self, precision: Precision) -> int:
        """Return the channels that stand side by side in memory."""
        return self.atom // precision.bytes

    def kernel_group(self, precision: Precision) -> int:
        """Return the kernels whose weights are stored together."""
        return self.macs_kernels // precision.bytes

    def has(self, engine: str) -> bool:
        """Report whether there is an engine of some name."""
        return engine in self.engines

    def refusal(self, engine: int, *precisions: int) -> str | None:
        """Explain why an operation does not run here, None if it does."""
        name = ENGINE_TYPES[engine].name
        if name not in self.engines:
            return f"{self.name} has no {name}, must be one of {', '.join(self.engines)}"
        for number in precisions:
            known = [each.value for each in Precision]
            precision = Precision(number).name.lower() if number in known else f"precision {number}"
            if precision not in self.precisions:
                return f"{self.name} has no {precision}, must be {' or '.join(self.precisions)}"
        return None


def read_configurations(text: str, file: str = "configurations") -> dict[str, Configuration]:
    """Return the configurations of a TOML text, by name.

    Rates, which only times need, are a table in the table. Raises CompileError for other entries
    than those of `Configuration`, for sizes that are not positive, and for entries of CBUF that are
    not a whole number of atoms.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CompileError(f"{file}: error: {error}") from None
    return {name: _configuration(file, name, table) for name, table in tables.items()}


_SETS = {
    "precisions": [each.name.lower() for each in Precision],
    "engines": [each.name for each in ENGINE_TYPES],
    "sdp_stages": ["x1", "x2", "y"],
}


def _configuration(file: str, name: str, table: Any) -> Configuration:
    where = f"{file}: error: '{name}'"
    given = _entries(where, table, Configuration)
    rates = given.pop("rates", None)
    if rates is not None:
        rates = Rates(**_entries(f"{file}: error: '{name}.rates'", rates, Rates))
    lists: dict[str, Any] = {key: tuple(value) for key, value in given.items() if key in _SETS}
    found = Configuration(name, **(given | lists), rates=rates)
    if found.entry % found.atom:
        raise CompileError(f"{where}: 'entry' must be a multiple of 'atom', {found.atom}")
    return found


def _entries(where: str, table: Any, kind: type) -> dict[str, Any]:
    """Return the entries of a table for a class: its fields, those with defaults maybe."""
    if not isinstance(table, dict):
        raise CompileError(f"{where} must be a table")
    given = cast(dict[str, Any], table)
    known = {each.name: each for each in fields(kind) if each.name != "name"}
    required = {name for name, each in known.items() if each.default is MISSING}
    odd = sorted((required - given.keys()) | (given.keys() - known.keys()))
    if odd:
        raise CompileError(f"{where} lacks or does not know: {', '.join(odd)}")
    for key, value in given.items():
        must = _must_be(key, value, known[key].type)
        if must is not None:
            raise CompileError(f"{where}: '{key}' is {value!r}, must be {must}")
    return dict(given)


def _must_be(key: str, value: Any, kind: object) -> str | None:
    """Return what a value must be, None if it is so."""
    if key in _SETS:
        known = _SETS[key]
        good = isinstance(value, list) and all(each in known for each in cast(list[Any], value))
        return None if good else f"a list of {', '.join(known)}"
    if kind == Rates | None:
        return None  # a table of its own, with entries of its own
    if kind is bool:
        return None if isinstance(value, bool) else "true or false"
    return None if type(value) is int and value > 0 else "a positive number"


@cache
def published() -> dict[str, Configuration]:
    """Return nv_small, nv_large and nv_full."""
    return read_configurations(FILE.read_text(), FILE.name)


def find_configuration(name: str) -> Configuration:
    """Return a published configuration; raise CompileError, with the names, for another name."""
    known = published()
    if name not in known:
        close = suggestion(name, known)
        raise CompileError(
            f"no configuration of NVDLA is called '{name}'{close}; there are {', '.join(known)}"
        )
    return known[name]
