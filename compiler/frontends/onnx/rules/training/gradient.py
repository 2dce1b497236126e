"""The ONNX rule for gradients, by the names of values."""

from ......dialects.core.errors import Invalid
from ....core.gradients import gradients, recomputed
from ...registry import Node, Value, onnx_op
from . import DOMAIN


@onnx_op("Gradient", since=1, domain=DOMAIN)
def gradient(
    *given: Value, xs: tuple[str, ...], y: str, zs: tuple[str, ...] = (), node: Node
) -> tuple[Value, ...]:
    """Differentiate the value `y` by `xs` where these, and `zs`, are the values that are given."""
    names = (*xs, *zs)
    if len(given) != len(names):
        raise Invalid(f"has {len(given)} inputs, must have one for each of {', '.join(names)}")
    values = [_named(node, name) for name in names]
    pairs = zip(values, given, strict=True)
    changed = {value: other for value, other in pairs if value != other}
    target = recomputed(_named(node, y), changed) if changed else _named(node, y)
    return tuple(gradients(target, given[: len(xs)]))


def _named(node: Node, name: str) -> Value:
    item = node.graphs.named(name)
    if not isinstance(item, Value):
        raise Invalid(f"differentiates '{name}', must be a tensor")
    return item
