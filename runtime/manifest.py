"""The manifest of a package: its contents, and the steps of a run in order, as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn, cast

from .contents import Contents, Symbol
from .errors import PackageError
from .schema import decode, encode
from .sizes.evaluation import Evaluation
from .sizes.values import STATIC, Values
from .step import Step

FORMAT = "trivium"
VERSION, SYMBOLIC_VERSION = 8, 9
"""The version of a manifest without symbols, which is that of older runtimes, and of one with."""


def version_of(symbols: Sequence[Symbol]) -> int:
    """Return the version of a manifest with some symbols."""
    return SYMBOLIC_VERSION if symbols else VERSION


@dataclass(frozen=True, kw_only=True)
class Manifest(Contents):
    """Describe a whole package.

    `load_steps` depend on no input. They run once, when the package is loaded, and compute
    constants that are smaller in the package than kernels read them: `prepared_bytes` of them.
    """

    format: str = FORMAT
    version: int = VERSION
    steps: tuple[Step, ...]
    load_steps: tuple[Step, ...] = ()

    @cached_property
    def evaluation(self) -> Evaluation:
        """Return what computes sizes; raise PackageError for texts that are no expressions."""
        listed = {"steps": self.steps, "parts": self.parts}
        records = [(r, f"{name}[{i}]") for name, each in listed.items() for i, r in enumerate(each)]
        return Evaluation(self, records)

    @cached_property
    def likely_values(self) -> Values:
        """Return the numbers that sizes stand for at the likely values of the symbols."""
        likely = {symbol.name: symbol.likely for symbol in self.symbols}
        return self.evaluation.unchecked(likely) if likely else STATIC

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
            version = _check_version(document)
            manifest = decode(Manifest, document, texts=version == SYMBOLIC_VERSION)
            _check_symbolic(manifest)
            return manifest
        except PackageError as error:
            raise PackageError(f"manifest: {error}") from None
        except ValueError as error:
            raise PackageError(f"manifest: is not JSON: {error}") from None
        except RecursionError:
            raise PackageError("manifest: is nested too deep") from None


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
