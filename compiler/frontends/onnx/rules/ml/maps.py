"""Rules of `ai.onnx.ml` for maps, which are tensors here."""

from ......dialects.core.errors import Invalid
from ....core.values import tensor
from ...registry import Value, onnx_op
from . import DOMAIN
from .scores import class_labels


@onnx_op("ZipMap", since=1, domain=DOMAIN)
def zip_map(
    x: Value,
    *,
    classlabels_int64s: tuple[int, ...] = (),
    classlabels_strings: tuple[str, ...] = (),
) -> Value:
    """Return the probabilities that the maps of all samples have, as [N, classes]."""
    labels = class_labels(classlabels_int64s, classlabels_strings)
    if len(labels) != tensor(x).shape[-1]:
        raise Invalid(f"has {len(labels)} class labels for {tensor(x)}")
    return x
