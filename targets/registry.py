"""Find targets by name, loaded when they are asked for; `installed.py` says where they are."""

from importlib import import_module
from pkgutil import iter_modules

from .. import dialects
from ..dialects.core.errors import CompileError
from ..dialects.core.mlir import ir
from ..dialects.core.module import operations
from ..dialects.core.op import OPS
from .core import Target
from .emitter import Emitter
from .installed import names, pick, targets
from .pass_index import pass_index

OWN_DIALECTS = {found.name for found in iter_modules(dialects.__path__)}
"""The packages of dialects; a dialect has the name of its package."""


def target_names() -> list[str]:
    """List the names of all targets that are installed."""
    return names(targets())


def find_target(name: str) -> Target:
    """Load a target; raise CompileError when there is none of that name, or more than one."""
    origin = pick("target", name, targets())
    target = origin.load()
    if not isinstance(target, Target) or target.name != name:
        found = f"'{target.name}'" if isinstance(target, Target) else repr(target)
        raise CompileError(f"target '{name}' of {origin.owner} cannot be loaded: it is {found}")
    return target


def choose_target(choice: str) -> Target:
    """Load the target that a user means by `cpu`, `gpu:sm_80+sm_90` or `vanilla:half.toml`.

    Raises CompileError as `find_target`, and for a variant that the target does not have.
    """
    name, colon, listed = choice.partition(":")
    variants = tuple(part.strip() for part in listed.split("+")) if colon else ()
    return find_target(name.strip()).configured(variants)


def choose_targets(choices: str) -> tuple[Target, ...]:
    """Load the targets that a user lists, as in `gpu:sm_90,cpu,host`, in the order of preference.

    A single target is followed by its fallbacks. Raises CompileError as `choose_target`, and for a
    target that is listed twice.
    """
    listed = choices.split(",")
    chosen = [
        _listed(choice, before) for choice, before in zip(listed, ["", *listed], strict=False)
    ]
    names = [target.name for target in chosen]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise CompileError(f"target is '{choices}', must not list '{twice}' twice")
    if len(chosen) == 1:
        others = (name for name in chosen[0].fallbacks if name not in names)
        chosen += [choose_target(name) for name in others]
    return tuple(chosen)


def _listed(choice: str, before: str) -> Target:
    """Load a target of a list; explain the separator to who lists architectures by commas."""
    try:
        return choose_target(choice)
    except CompileError as error:
        name = before.strip()
        if ":" not in name or choice.strip() in target_names():
            raise
        hint = f"architectures of one target are joined by '+', as in {name}+{choice.strip()}"
        raise CompileError(f"{error.diagnostics[0].message}; {hint}") from None


def find_emitter(name: str) -> Emitter:
    """Return the emitter of a name that a target offers; CompileError when there is none.

    Raises CompileError, too, as `find_target` does, and when two targets offer the same name.
    """
    offered = [emitter for target in target_names() for emitter in find_target(target).emitters]
    found = dict.fromkeys(emitter for emitter in offered if emitter.name == name)
    if not found:
        known = ", ".join(dict.fromkeys(emitter.name for emitter in offered))
        raise CompileError(f"no emitter is called '{name}', targets offer: {known}")
    if len(found) > 1:
        raise CompileError(f"two targets offer an emitter called '{name}', uninstall one of them")
    return next(iter(found))


def load_passes() -> None:
    """Import every pass, those of all targets included; raises as `find_target`."""
    for source in pass_index().values():
        import_module(source.module)
    for name in target_names():
        find_target(name)


def load_dialects(scope: ir.Operation) -> None:
    """Load the dialects of the ops below an operation, those that targets have included."""
    for name in sorted({op.name.partition(".")[0] for op in operations(scope)}):
        if name in OWN_DIALECTS:
            import_module(f"{dialects.__name__}.{name}")
        elif name not in {cls.dialect.name for cls in OPS.values()} and name in target_names():
            find_target(name)
