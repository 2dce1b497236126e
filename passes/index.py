"""Find passes by name in source files: listing them imports none, running one imports that one."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_DEFINITION = re.compile(r"^class (\w+)\(Pass\):\n(?:(?:[ \t].*)?\n)*", re.MULTILINE)


def pass_name(class_name: str) -> str:
    """Return the name of a pass on the command line: `FoldConstants` is `fold-constants`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", class_name).lower()


@dataclass(frozen=True)
class PassSource:
    """Hold where a pass is defined: the name of the module, and the text of the class."""

    module: str
    text: str

    @property
    def summary(self) -> str:
        """Return the first line of the docstring, as `Pass.summary` does."""
        return (ast.get_docstring(self._definition()) or "").partition("\n")[0]

    @property
    def options(self) -> tuple[str, ...]:
        """Return the names of the options in order, spelled as on the command line."""
        fields = [node for node in self._definition().body if isinstance(node, ast.AnnAssign)]
        options = [field for field in fields if "ClassVar" not in ast.unparse(field.annotation)]
        return tuple(ast.unparse(field.target).replace("_", "-") for field in options)

    def _definition(self) -> ast.ClassDef:
        (found,) = ast.parse(self.text).body
        assert isinstance(found, ast.ClassDef)
        return found


PassIndex = Mapping[str, PassSource]
"""Passes by their names."""


def index_passes(package: str, root: Path) -> dict[str, PassSource]:
    """Index the passes that the source files of a package define, those in its folders included."""
    found: dict[str, PassSource] = {}
    for file in sorted(root.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "(Pass):" in text:
            module = ".".join([package, *file.relative_to(root).with_suffix("").parts])
            for match in _DEFINITION.finditer(text):
                found[pass_name(match[1])] = PassSource(module, match[0])
    return found


def own_passes() -> dict[str, PassSource]:
    """Index the passes of this package, which are for any target."""
    return index_passes(__package__ or "", Path(__file__).parent)
