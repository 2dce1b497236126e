"""Decide which images are blocked."""

from collections.abc import Iterable

from ....dialects import cpu
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Undecided
from ....dialects.core.machine import NATIVE, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, functions, ops
from ....dialects.core.op import Op
from ....dialects.core.states.kept import is_kept
from ....passes.core import Pass
from ....passes.rewriting import LOGS, NoMatch, Pattern, Rewriter, rewrite
from ...choices import WINOGRAD_ERROR
from ..schedule.layout_costs import relayout_cost
from . import blocked_convs as blocked_convs
from . import blocked_dots as blocked_dots
from .blocked_forms import Blocks, Form, blocked_form
from .minimum_cut import Labelling

Forms = dict[ir.Value, tuple[Op, Form]]
"""The ops that can work on blocked images, by their result."""


class ChooseLayouts(Pass):
    """Block images by channels, in blocks that fill a vector, where that pays.

    The pass chooses the set of ops on blocked images whose total cost, conversions between the
    layouts included, is least. Padding of a convolution becomes a border of zeros that the
    producer's kernel writes. `error` is the relative error allowed to Winograd's method per layer;
    `machine` is the machine of the kernels; `always` blocks every image that can be blocked.

        tri.conv %x, %w; tri.relu
            =>   cpu.unblock (tri.relu (cpu.blocked_conv (tri.pad (cpu.block %x)), %w_packed))
        cpu.block (cpu.unblock %x)   =>   %x
        cpu.unblock (cpu.block %x)   =>   %x

    What a session keeps is read by all that follows: runs may go on from it.
    """

    error: float = WINOGRAD_ERROR
    machine: str = NATIVE
    always: bool = False

    def run(self, module: Module) -> None:
        blocks = Blocks(find_machine(self.machine), self.error)
        rewriter = Rewriter(module)
        with module.operation.context:
            for function in functions(module.operation):
                forms = self._find_forms(function, blocks, rewriter)
                chosen = set(forms) if self.always else _cheapest(forms, blocks)
                _rewrite([forms[value] for value in forms if value in chosen], blocks, rewriter)
        rewrite(module, _BlockOfUnblock(), _UnblockOfBlock())

    def _find_forms(self, function: ir.Operation, blocks: Blocks, rewriter: Rewriter) -> Forms:
        found: Forms = {}
        for op in ops(function):
            try:
                found[op.results[0]] = (op, blocked_form(op, blocks, rewriter))
            except (NoMatch, Undecided) as reason:
                for log in LOGS:
                    log.add(self, op, str(reason))
        return found


class _BlockOfUnblock(Pattern):
    root = cpu.Block

    def rewrite(self, op: cpu.Block, rewriter: Rewriter) -> None:
        plain = rewriter.producer(op.x, cpu.Unblock)
        if is_kept(op.x):
            raise NoMatch("is of a value that is kept, from which others go on")
        if plain.x.type != op.y.type:
            raise NoMatch(f"makes {op.y.type} of {plain.x.type}")
        rewriter.replace(op, [plain.x], plain)


class _UnblockOfBlock(Pattern):
    root = cpu.Unblock

    def rewrite(self, op: cpu.Unblock, rewriter: Rewriter) -> None:
        blocked = rewriter.producer(op.x, cpu.Block)
        rewriter.replace(op, [blocked.x], blocked)


def _cheapest(forms: Forms, blocks: Blocks) -> set[ir.Value]:
    """Return the results that are blocked when all costs least."""
    labels = Labelling()
    for value, (_, form) in forms.items():
        labels.costs(value, form.blocked, form.plain)
    images = [image for op, form in forms.values() for image in _images(op, form)]
    for value in dict.fromkeys([*forms, *images]):
        _separate(value, forms, blocks, labels)
    blocked = labels.first()
    return {value for value in forms if value in blocked}


def _separate(value: ir.Value, forms: Forms, blocks: Blocks, labels: Labelling) -> None:
    """Add the cost of converting a value between layouts, once for any number of readers.

    A value is plain if its producer, or its reader, has no blocked form.
    """
    cost = relayout_cost(tensor_of(value.type), blocks.machine)
    forever = float("inf")
    plain, blocked = (value, "plain"), (value, "blocked")  # that somebody reads it so
    if value not in forms:
        labels.costs(value, forever, 0.0)
    labels.separate(value, plain, cost)
    labels.separate(blocked, value, cost)
    for reader in _readers(value, forms):
        if reader is None:
            labels.costs(plain, forever, 0.0)
            continue
        labels.separate(plain, reader, forever)
        labels.separate(reader, blocked, forever)
        if forms[reader][0].elementwise:  # it fuses with the producer, for free
            labels.separate(value, reader, cost)
            labels.separate(reader, value, cost)


def _readers(value: ir.Value, forms: Forms) -> Iterable[ir.Value | None]:
    """List the forms that read a value as an image, and None for any other user."""
    for use in value.uses:
        results = use.owner.operation.results
        known = forms.get(results[0]) if len(results) else None
        yield results[0] if known and value in _images(*known) else None


def _images(op: Op, form: Form) -> list[ir.Value]:
    return [op.operation.operands[number] for number in form.images]


def _rewrite(chosen: list[tuple[Op, Form]], blocks: Blocks, rewriter: Rewriter) -> None:
    """Build the blocked forms of the chosen ops, in order, with conversions of their images."""
    left: list[Op] = []
    for op, form in chosen:
        with rewriter.before(op):
            images = [_blocked(image, blocks, rewriter) for image in _images(op, form)]
            made = form.build(images, rewriter)
            plain = cpu.Unblock.build(made.results[0])
        rewriter.replace(op, plain)
        left.append(plain)
    for op in reversed(left):
        rewriter.erase_unused(op)


def _blocked(image: ir.Value, blocks: Blocks, rewriter: Rewriter) -> ir.Value:
    """Return the blocked value of an image, from its producer if that makes one, else a copy.

    A value that is kept is copied, so that runs can go on from it.
    """
    producer = rewriter.find_producer(image)
    if isinstance(producer, cpu.Unblock) and not is_kept(image):
        return producer.x
    return cpu.Block.build(image, lanes=blocks.lanes).y
