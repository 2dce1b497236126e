"""The buffer of PDP: it has the sums of windows that a line of the image is in, side by side."""

from .....dialects.core.attributes import tensor_of
from ..configuration import Configuration
from ..dialect.dialect import precision_of
from ..dialect.pools import Pdp

_BITS = {1: 14, 2: 28}
"""The bits of an element in the buffer, by its bytes in memory."""

_LINES = (1, 2, 4, 8)
"""The lines of windows that there is place for at once."""


def most_columns(op: Pdp, configuration: Configuration) -> int:
    """Return the columns of a result that PDP computes at once, as the vendor's compiler does."""
    precision = precision_of(tensor_of(op.x.type).dtype)
    overlapping = -(-op.kernel[0] // op.strides[0])
    lines = next(count for count in _LINES if count >= overlapping)
    bits = lines * configuration.atom_elements(precision) * _BITS[precision.bytes]
    return 8 * configuration.pdp_buffer // bits
