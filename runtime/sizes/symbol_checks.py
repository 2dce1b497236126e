"""Check the symbols, checks and regions of a manifest."""

from dataclasses import replace

from ..contents import ARENA, Contents, SizeCheck, Symbol
from ..errors import PackageError
from ..manifest import Manifest
from ..step import all_steps
from .fields import texts_in, with_sizes
from .size_expressions import MOST, is_symbol_name
from .stages import Stages
from .symbols import Symbols
from .values import SizeFault

_RELATIONS = (">=", "==")


def check_symbols(manifest: Manifest) -> Manifest:
    """Return a manifest with symbols with the numbers of its likely sizes in place of texts.

    Raises PackageError where symbols, checks and regions do not fit together, or texts are no
    expressions of the symbols.
    """
    _check_names(manifest)
    for i, symbol in enumerate(manifest.symbols):
        _check_symbol(symbol, f"symbols[{i}]")
    for i, check in enumerate(manifest.checks):
        _check_relation(check, f"checks[{i}]")
    _check_regions(manifest)
    for i, step in enumerate(manifest.load_steps):
        for _, where in texts_in(step, f"load_steps[{i}]"):
            raise PackageError(f"'{where}' is a text, but inputs are not known at load")
    steps = all_steps((*manifest.steps, *manifest.load_steps))
    staged = manifest.carried_arenas or any(symbol.stage for symbol in manifest.symbols)
    if staged or any(step.begins_stages for step in steps):
        from .stage_checks import check_stages

        check_stages(manifest)
    known = Stages(manifest).at(0)
    Symbols(known)
    return _at_likely(known)


def _at_likely(manifest: Manifest) -> Manifest:
    try:
        values = manifest.likely_values
    except SizeFault as error:
        raise PackageError(f"{error} at the likely sizes") from None
    arenas = {ARENA: ("memory", manifest.memory.arena_bytes)}
    for i, space in enumerate(manifest.spaces):
        arenas[manifest.bases_in(space.name)[0]] = f"spaces[{i}]", space.arena_bytes
    for base, size in values.arenas.items():
        where, known = arenas.get(base, ("", size))
        if size != known:
            raise PackageError(
                f"'{where}.arena_bytes' is {known}, the regions of base {base} have {size} bytes"
            )
    plain = replace(manifest, symbols=(), named_sizes=(), checks=(), regions=(), exact=())
    return with_sizes(plain, values)


def _check_names(contents: Contents) -> None:
    names = [symbol.name for symbol in contents.symbols]
    units = [symbol.unit for symbol in contents.symbols if symbol.step != 1]
    named = [each.name for each in contents.named_sizes]
    for field, listed in (("symbols", names), ("named_sizes", named)):
        for i, name in enumerate(listed):
            is_place = name.startswith("at_") and name[3:].isdecimal()
            if not is_symbol_name(name) or is_place:
                raise PackageError(f"'{field}[{i}].name' is {name!r}, must look like 'T'")
    if len({*names, *units}) != len(names) + len(units):
        raise PackageError(f"'symbols' are {[*names, *units]}, must have different names")
    known = {*names, *units}
    for i, name in enumerate(named):
        if name in known:
            raise PackageError(f"'named_sizes[{i}].name' is {name!r}, which is another size")
        known.add(name)


def _check_symbol(symbol: Symbol, where: str) -> None:
    high = MOST if symbol.high is None else symbol.high
    if not 0 <= symbol.low <= symbol.likely <= high <= MOST:
        raise PackageError(
            f"'{where}' is from {symbol.low} to {symbol.high}, likely {symbol.likely}: must be in "
            f"this order, from 0 to {MOST}"
        )
    if symbol.step < 1 or symbol.likely % symbol.step:
        raise PackageError(
            f"'{where}.step' is {symbol.step}, must be at least 1 and divide {symbol.likely}"
        )


def _check_relation(check: SizeCheck, where: str) -> None:
    if check.relation not in _RELATIONS:
        raise PackageError(f"'{where}.relation' is {check.relation!r}, must be '>=' or '=='")


def _check_regions(contents: Contents) -> None:
    for i, region in enumerate(contents.regions):
        if not contents.is_arena(region.base):
            raise PackageError(f"'regions[{i}].base' is {region.base}, must be an arena")
        for j in region.above:
            if not 0 <= j < i or contents.regions[j].base != region.base:
                raise PackageError(
                    f"'regions[{i}].above' has {j}, must be earlier regions of the same base"
                )
