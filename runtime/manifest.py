"""The manifest of a package: its contents, and the steps of a run in order, as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn, cast

from .contents import Contents, Symbol
from .errors import PackageError
from .frozen import Frozen
from .kinds import LEFT_OUT
from .schema import decode, decode_fields, decode_list, encode
from .sizes.values import STATIC, Values, spelled_sizes
from .step import Step

if TYPE_CHECKING:
    from .sizes.evaluation import Evaluation

FORMAT = "trivium"
VERSION, SYMBOLIC_VERSION = 12, 13
"""The version of a manifest without symbols, and of one with: both count up where the format of a
package or what native code takes from its caller changes, see docs/packages.md."""


def version_of(symbols: Sequence[Symbol]) -> int:
    """Return the version of a manifest with some symbols."""
    return SYMBOLIC_VERSION if symbols else VERSION


class ExactProgram(Frozen):
    """Describe the program for exact sizes of all symbols that inputs give, as a package does.

    Its entries are those of the package around it that have the same checksums.
    """

    sizes: Mapping[str, int]
    manifest: "Manifest"

    @property
    def spelled(self) -> str:
        """Return the sizes as text: `N=2, T=128`."""
        return spelled_sizes(self.sizes)


class Manifest(Contents, kw_only=True):
    """Describe a whole package.

    `load_steps` depend on no input. They run once, when the package is loaded, and compute
    constants that are smaller in the package than kernels read them: `prepared_bytes` of them.

    `exact` are programs for exact sizes of the symbols, which run in place of the steps where
    inputs have these sizes. With `only_exact` there are no steps: inputs must have such sizes.
    """

    format: str = FORMAT
    version: int = VERSION
    steps: tuple[Step, ...]
    load_steps: tuple[Step, ...] = ()
    exact: tuple[ExactProgram, ...] = field(default=(), metadata=LEFT_OUT)
    only_exact: bool = field(default=False, metadata=LEFT_OUT)

    @cached_property
    def evaluation(self) -> "Evaluation":
        """Return what computes sizes; raise PackageError for texts that are no expressions."""
        from .sizes.evaluation import Evaluation

        listed = {"steps": self.steps, "parts": self.parts}
        records = [(r, f"{name}[{i}]") for name, each in listed.items() for i, r in enumerate(each)]
        return Evaluation(self, records)

    @cached_property
    def likely_values(self) -> Values:
        """Return the numbers that sizes stand for at the likely values of the symbols."""
        if self.version == VERSION:
            return STATIC
        return self.evaluation.unchecked({each.name: each.likely for each in self.symbols})

    def to_json(self) -> str:
        """Return the text of this manifest; equal manifests have equal texts."""
        return json.dumps(encode(self), allow_nan=False, separators=(",", ":"))

    @staticmethod
    def from_json(text: str | bytes) -> "Manifest":
        """Read a manifest; raise PackageError that names the place of a fault in the text."""
        try:
            document = json.loads(
                text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
            )
            return _decoded(document)
        except PackageError as error:
            raise PackageError(f"manifest: {error}") from None
        except ValueError as error:
            raise PackageError(f"manifest: is not JSON: {error}") from None
        except RecursionError:
            raise PackageError("manifest: is nested too deep") from None


def _decoded(document: object, nested: bool = False) -> Manifest:
    version = _check_version(document)
    table = dict(cast("dict[str, object]", document))
    if nested and (found := [name for name in ("exact", "only_exact") if name in table]):
        raise PackageError(f"'{found[0]}' must be left out of a program for exact sizes")
    exact = _exact_programs(table.pop("exact", []))
    manifest = decode(Manifest, table, texts=version == SYMBOLIC_VERSION)
    _check_symbolic(manifest)
    return replace(manifest, exact=exact) if exact else manifest


def _exact_programs(listed: object) -> tuple[ExactProgram, ...]:
    """Decode programs for exact sizes: each has a manifest of its own, which has no such programs.

    They are read as manifests of their own: without symbols, no size may be a text.
    """
    programs: list[ExactProgram] = []
    for i, item in enumerate(decode_list(listed, "exact")):
        where = f"exact[{i}]"
        table = decode_fields(item, where, ("sizes", "manifest"))
        sizes = decode(Mapping[str, int], table["sizes"], f"{where}.sizes")
        try:
            programs.append(ExactProgram(sizes, _decoded(table["manifest"], nested=True)))
        except PackageError as error:
            raise PackageError(f"{where}: {error}") from None
    return tuple(programs)


def _check_version(document: object) -> int:
    # Before anything else: a later version may have other fields.
    table = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    mark, version = table.get("format"), table.get("version")
    if mark != FORMAT:
        raise PackageError(f"'format' is {mark!r}, must be {FORMAT!r}")
    if type(version) is not int:
        return VERSION  # which the schema refuses
    if version > SYMBOLIC_VERSION:
        raise PackageError(
            f"'version' is {version}, this runtime reads up to {SYMBOLIC_VERSION}: "
            "update the runtime or compile the model again with this version"
        )
    if version < VERSION:
        raise PackageError(
            f"'version' is {version}, this runtime reads {VERSION}: compile the model again"
        )
    return version


def _check_symbolic(manifest: Manifest) -> None:
    needed = version_of(manifest.symbols)
    if manifest.version != needed:
        raise PackageError(
            f"'version' is {manifest.version}, must be {needed} with {len(manifest.symbols)} "
            "symbols"
        )


def _refuse_constant(name: str) -> NoReturn:
    raise PackageError(f"holds the number {name}, which JSON does not have")


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PackageError(f"'{twice}' occurs twice in one object")
    return table
