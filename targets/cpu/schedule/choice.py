"""The schedule of an op: the fixed one, or the one with the least expected time."""

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from ....dialects.core.location import describe
from ....dialects.core.machine import Machine
from ....dialects.core.op import Op
from ....passes.rewriting import NoMatch
from .candidates import is_possible
from .costs import cheapest
from .products import product_of
from .schedule import Schedule, fixed_schedule


def choose(op: Op, machine: Machine, error: float = 0.0) -> Schedule:
    """Return the schedule of an op; NoMatch when its weights cannot be packed.

    A fixed schedule counts when it is possible and loses no more than `error`. Raises CompileError
    for an attribute that names none.
    """
    product = product_of(op)
    if product is None:
        raise NoMatch("has scales, a type that is widened, no elements, or one kernel at a time")
    fixed = _fixed(op)
    if fixed is not None and is_possible(fixed, product, machine, error):
        return fixed
    return cheapest(product, machine, error)


def _fixed(op: Op) -> Schedule | None:
    try:
        return fixed_schedule(op)
    except Invalid as error:
        where = describe(op.location)
        raise CompileError([Diagnostic(where, f"'{op.op_name}' op {error}")]) from None
