"""Packages installed without pip, which may have to ask the network for what builds them."""

import os
import sys
import tomllib
from pathlib import Path


def install(package: Path, site: Path) -> None:
    """Let processes with `environment(site)` find a package and its entry points."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head)
    lines: list[str] = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for name in package.iterdir():
        if (name / "__init__.py").exists():
            (site / name.name).symlink_to(name.resolve(), target_is_directory=True)


def environment(site: Path) -> dict[str, str]:
    """Return an environment of processes that look into a folder of packages, too."""
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}


if __name__ == "__main__":  # pip install -e PACKAGE
    install(Path(sys.argv[-1]), Path(os.environ["SITE"]))
