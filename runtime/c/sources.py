"""Write the sources of libtrivium, which build without Trivium or Python."""

from pathlib import Path

from ...version import __version__

_FOLDER = Path(__file__).parent
_OURS = {".py", ".pyc"}


def sources() -> dict[str, bytes]:
    """Return the content of each file by its name, with the version of the library."""
    files = (path for path in sorted(_FOLDER.iterdir()) if path.is_file())
    found = {path.name: path.read_bytes() for path in files if path.suffix not in _OURS}
    return {**found, "VERSION": f"{__version__}\n".encode()}


def write_sources(folder: Path) -> list[str]:
    """Write all files to a folder, which is made where it is missing; return their names.

    Raises OSError where the folder or a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = sources()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return list(files)
