"""Write a package for a new accelerator: an own op in all its places, and vanilla's description.

What is written is `template/`, a package for an accelerator called acme, under another name.
"""

import keyword
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from ..dialects.core.errors import CompileError
from ..dialects.core.mlir import has_dialect
from ..targets.dla.vanilla.packets import FILE
from ..targets.installed import names, targets
from ..targets.registry import OWN_DIALECTS

DESCRIPTIONS = {"vanilla": FILE}
"""The descriptions that new ones can begin as."""

TEMPLATE = Path(__file__).with_name("template")
STAND_IN = "acme"
LONGEST = 16


def check_name(name: str) -> None:
    """Raise CompileError for a name that no package can have, or that something else has."""
    form = f"1 to {LONGEST} letters, digits and underscores, none of them large, a letter first"
    if not re.fullmatch(rf"[a-z][a-z0-9_]{{0,{LONGEST - 1}}}", name) or keyword.iskeyword(name):
        raise CompileError(f"'{name}' cannot name a target, must be {form}, and no keyword")
    if name in names(targets()):
        raise CompileError(f"a target called '{name}' is installed, choose another name")
    if _is_dialect(name):
        raise CompileError(f"a dialect is called '{name}', choose another name")
    # The current folder is found, too, without being an installed module.
    spec = find_spec(name)
    if spec is not None and spec.origin is not None:
        raise CompileError(f"a module called '{name}' is installed, choose another name")


def _is_dialect(name: str) -> bool:
    """Return whether a dialect of ours or of MLIR's has a name."""
    return name in OWN_DIALECTS or has_dialect(name)


def write_target(name: str, template: str, folder: Path) -> None:
    """Write the package of an accelerator to a folder that is not there yet, or nothing.

    Raises CompileError for names that `check_name` refuses, and where the folder cannot be made.
    """
    check_name(name)
    if folder.exists():
        raise CompileError(f"'{folder}' exists, choose another folder")
    texts = package_texts(name, template)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder.parent) as place:
            made = Path(place) / name
            for path, text in texts.items():
                file = made / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            _write_page(name, made)
            made.rename(folder)
    except OSError as error:
        raise CompileError(f"cannot write '{folder}': {error.strerror}") from None


def package_texts(name: str, template: str) -> dict[str, str]:
    """Return the text of each file of a package, but for its page, by its path."""
    found: dict[str, str] = {}
    for file in sorted(TEMPLATE.rglob("*.*")):
        if file.suffix != ".pyc" and file.is_file():
            path = file.relative_to(TEMPLATE).as_posix()
            text = file.read_text()
            if path == f"{STAND_IN}/{STAND_IN}.toml":
                text = _description(DESCRIPTIONS[template].read_text(), template, text)
            found[_renamed(path, name)] = _renamed(text, name)
    return found


def _description(text: str, template: str, packet: str) -> str:
    """Return a description with another name, and one more packet before the last one."""
    head, name, rest = text.partition(f'name = "{template}"\n')
    _, summary, rest = rest.partition("summary = ")
    body, end, last = rest.partition("\n")[2].partition("# End the stream.\n")
    if not (head and name and summary and end):
        raise AssertionError(f"the description of {template} has another form")
    title = f"# The accelerator {STAND_IN}. Everything about it is said here.\n\n"
    lines = f'name = "{STAND_IN}"\nsummary = "an int8 accelerator that began as {template}"\n'
    return f"{title}{lines}{body}{packet}\n{end}{last}"


def _renamed(text: str, name: str) -> str:
    return text.replace(STAND_IN, name).replace(STAND_IN.upper(), name.upper())


def _write_page(name: str, folder: Path) -> None:
    """Let the new package write its page, which shows that it can be imported."""
    command = [sys.executable, "-m", f"{name}.page"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the new package cannot be imported:\n{done.stderr}")
    for cache in folder.rglob("__pycache__"):
        for file in cache.iterdir():
            file.unlink()
        cache.rmdir()
