"""The manifest of a package: its contents, and the steps of a run in order, as JSON."""

import json
from dataclasses import dataclass
from typing import NoReturn, cast

from .contents import Contents
from .errors import PackageError
from .schema import decode, encode
from .step import Step

FORMAT = "trivium"
VERSION = 8


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
            _check_version(document)
            return decode(Manifest, document)
        except PackageError as error:
            raise PackageError(f"manifest: {error}") from None
        except ValueError as error:
            raise PackageError(f"manifest: is not JSON: {error}") from None
        except RecursionError:
            raise PackageError("manifest: is nested too deep") from None


def _check_version(document: object) -> None:
    # Before anything else: a later version may have other fields.
    table = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    mark, version = table.get("format"), table.get("version")
    if mark != FORMAT:
        raise PackageError(f"'format' is {mark!r}, must be {FORMAT!r}")
    if type(version) is int and version > VERSION:
        raise PackageError(
            f"'version' is {version}, this runtime reads up to {VERSION}: "
            "update the runtime or compile the model again with this version"
        )
    if type(version) is int and version < VERSION:
        raise PackageError(
            f"'version' is {version}, this runtime reads {VERSION}: compile the model again"
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
