"""Run a model compiled for the CPU with all values to be quantised as results, and look at them."""

from collections.abc import Callable, Mapping, Sequence

from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, declared
from ...dialects.core.tensor import Array
from ...passes.quantizable import is_moved, names_of, quantizable
from ...runtime.session import Session
from ..build import Progress, build_module
from ..stages import pipeline_for
from .ranges import Form, Seen

Feed = Mapping[str, Array]


def observe(
    module: Module, feeds: Sequence[Feed], form: Form, progress: Progress
) -> dict[str, Seen]:
    """Return what numbers the values to be quantised have, by their names.

    Those that are moved from others have the scales of those, and are left out.
    """
    names = names_of(module)
    chosen = [value for value in quantizable(module) if not is_moved(value)]
    found = [names[value] for value in chosen if value in names]
    inputs = declared(module.main, "inputs", len(module.main.regions[0].blocks[0].arguments))
    inner = [name for name in found if name not in inputs]
    session = _session(module, inner, progress)
    seen = {name: Seen() for name in found}
    _visit(session, feeds, seen, Seen.widen)
    if form.method != "minmax":
        _visit(session, feeds, seen, Seen.count)
    return seen


def _visit(
    session: Session,
    feeds: Sequence[Feed],
    seen: Mapping[str, Seen],
    look: Callable[[Seen, Array], None],
) -> None:
    for feed in feeds:
        arrays = {**feed, **session.run(feed)}
        for name, each in seen.items():
            look(each, arrays[name])


def _session(module: Module, inner: Sequence[str], progress: Progress) -> Session:
    """Compile a copy of a module that returns the values of the given names, and nothing else."""
    copy = Module(ir.Module.parse(module.operation.get_asm(enable_debug_info=True)), module.weights)
    copy.weights = dict(module.weights)
    values = {name: value for value, name in names_of(copy).items()}
    returned = [values[name] for name in inner]
    block = copy.main.regions[0].blocks[0]
    last = block.operations[len(block.operations) - 1].operation
    last.erase()
    with ir.InsertionPoint(block), ir.Location.unknown():
        ir.Operation.create("func.return", [], returned)
    arguments = [value.type for value in block.arguments]
    signature = ir.FunctionType.get(arguments, [value.type for value in returned])
    copy.main.attributes["function_type"] = ir.TypeAttr.get(signature)
    outputs = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in inner])
    copy.main.attributes["trivium.outputs"] = outputs
    return Session(build_module(copy, pipeline_for("cpu", 2), "cpu", progress, ""))
