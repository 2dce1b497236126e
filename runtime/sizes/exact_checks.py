"""Check the programs of a manifest for exact sizes."""

from collections.abc import Sequence

from ..contents import Port
from ..errors import PackageError
from ..manifest import ExactProgram, Manifest
from .symbols import range_fault
from .values import SizeFault


def check_exact(manifest: Manifest) -> None:
    """Raise PackageError unless programs for exact sizes stand for that of all sizes.

    Each is sound by itself, which is checked before.
    """
    if manifest.only_exact:
        _check_shell(manifest)
    if not manifest.exact:
        return
    if manifest.stages or not manifest.symbols:
        raise PackageError("'exact' must be left out unless inputs give the sizes of all symbols")
    if any(each.updated for each in (manifest, *(program.manifest for program in manifest.exact))):
        raise PackageError("'carried' is in place, must not be where there are programs in 'exact'")
    stored = {(entry.size, entry.checksum) for entry in manifest.entries}
    found: list[dict[str, int]] = []
    for i, program in enumerate(manifest.exact):
        where = f"exact[{i}]"
        _check_sizes(program, manifest, f"{where}.sizes")
        if program.sizes in found:
            raise PackageError(f"'{where}.sizes' are {program.spelled}, as are earlier ones")
        found.append(dict(program.sizes))
        _check_ports(program, manifest, f"{where}.manifest")
        for j, entry in enumerate(program.manifest.entries):
            if (entry.size, entry.checksum) not in stored:
                raise PackageError(
                    f"'{where}.manifest.entries[{j}]' is '{entry.name}', whose bytes are not stored"
                )


def _check_shell(manifest: Manifest) -> None:
    """Check that a package that runs at exact sizes alone has nothing for other sizes."""
    if not manifest.exact:
        raise PackageError("'only_exact' is true, must have programs in 'exact'")
    for name in ("steps", "load_steps", "parts", "regions", "spaces"):
        if getattr(manifest, name):
            raise PackageError(f"'{name}' must be empty where 'only_exact' is true")


def _check_sizes(program: ExactProgram, manifest: Manifest, where: str) -> None:
    found, names = sorted(program.sizes), sorted(symbol.name for symbol in manifest.symbols)
    if found != names:
        raise PackageError(f"'{where}' are of {', '.join(found)}, must be of {', '.join(names)}")
    for symbol in manifest.symbols:
        if fault := range_fault(symbol, program.sizes[symbol.name]):
            raise PackageError(f"'{where}': {fault}")


def _check_ports(program: ExactProgram, manifest: Manifest, where: str) -> None:
    """Check that inputs and outputs are those of the package, at the sizes of the program."""
    if program.manifest.symbols:
        raise PackageError(f"'{where}.symbols' must be left out: all sizes are exact")
    try:
        values = manifest.evaluation.at(program.sizes)
    except SizeFault as error:
        raise PackageError(f"{error} at {program.spelled}, the sizes of '{where}'") from None
    for kind in ("inputs", "outputs"):
        ports: Sequence[Port] = getattr(manifest, kind)
        wanted = [(p.name, p.dtype, tuple(map(values, p.shape))) for p in ports]
        given = [(p.name, p.dtype, p.shape) for p in getattr(program.manifest, kind)]
        if given != wanted:
            raise PackageError(
                f"'{where}.{kind}' are {given}, must be {wanted} at {program.spelled}"
            )
