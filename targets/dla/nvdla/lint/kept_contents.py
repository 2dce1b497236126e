"""Which convolutions use what the one before has left in CBUF, and whether that is their own."""

from ..format.dla_task import DlaTask, Operation
from ..format.operations import ConvOperation, ConvSurface
from ..pixels import FEATURE
from .firmware import replay


def kept_refusals(task: DlaTask) -> dict[int, str]:
    """Explain which operations use contents of CBUF that are not what they describe.

    The engine keeps weights, or data, if the convolution before does not release them, and has the
    same mode, banks and kind of data; otherwise it loads them. What is kept must be of the same
    cube, so that results are those of contents that are loaded again.
    """
    found: dict[int, str] = {}
    before: Operation | None = None
    for chain in replay(task.operations, task.network.heads).chains:
        for number in chain:
            operation = task.operations[number]
            if not isinstance(operation.descriptor, ConvOperation):
                continue
            reason = None if before is None else _refusal(before, operation)
            if reason is not None:
                found[number] = reason
            before = operation
    return found


def _refusal(before: Operation, operation: Operation) -> str | None:
    first, second = before.descriptor, operation.descriptor
    assert isinstance(first, ConvOperation)
    assert isinstance(second, ConvOperation)
    earlier, later = before.surface, operation.surface
    assert isinstance(earlier, ConvSurface)
    assert isinstance(later, ConvSurface)
    if _kind(first) != _kind(second):
        return None
    if first.skip_weight_release and second.weight_reuse and earlier.weights != later.weights:
        return f"the weights that {before} leaves in CBUF"
    if second.data_reuse and first.skip_data_release and earlier.source != later.source:
        return f"the data that {before} leaves in CBUF"
    if second.data_reuse and not first.skip_data_release and first.release < first.height_csc:
        return f"rows that {before} leaves in CBUF"
    return None


def _kind(operation: ConvOperation) -> tuple[int, int, int, bool]:
    is_feature = operation.data_format == FEATURE
    return operation.mode, operation.data_banks, operation.weight_banks, is_feature
