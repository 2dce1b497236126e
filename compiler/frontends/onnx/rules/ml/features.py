"""Rules of `ai.onnx.ml` that choose features and put them together."""

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.atoms import is_symbolic
from ....core.values import tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .operands import matrix


@onnx_op("ArrayFeatureExtractor", since=1, domain=DOMAIN)
def array_feature_extractor(x: Value, y: Value) -> tri.Gather:
    """Take elements along the last axis; a vector is one sample."""
    shape = tensor(x).shape
    if len(shape) == 1:
        x = tri.Reshape.build(x, shape=(1, *shape)).y
    flat = tri.Reshape.build(y, shape=(tensor(y).size,)).y
    return tri.Gather.build(x, flat, axis=tensor(x).rank - 1)


@onnx_op("FeatureVectorizer", since=1, domain=DOMAIN)
def feature_vectorizer(*xs: Value, inputdimensions: tuple[int, ...] = ()) -> Value:
    """Put the features of all inputs side by side, each cut or padded to its dimension."""
    if len(inputdimensions) not in (0, len(xs)):
        raise Invalid(f"has {len(inputdimensions)} dimensions of {len(xs)} inputs")
    parts = [matrix(x) for x in xs]
    wanted = inputdimensions or tuple(tensor(part).shape[1] for part in parts)
    fitted = [_fit(part, size) for part, size in zip(parts, wanted, strict=True)]
    return fitted[0] if len(fitted) == 1 else tri.Concat.build(fitted, axis=1).y


def _fit(x: Value, size: int) -> Value:
    count, features = tensor(x).shape
    if is_symbolic(features) or features == size:
        return x
    if features > size:
        return tri.Slice.build(x, starts=(0, 0), sizes=(count, size), steps=(1, 1)).y
    return tri.Pad.build(x, pads=(0, 0, 0, size - features)).y
