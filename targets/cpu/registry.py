"""The lowering table of the CPU target, and its decorators."""

from dataclasses import replace

from ...dialects.core.tensor import COMPUTED
from ...dialects.cpu.vnni import VNNI
from ..element_types import BLOCKED, COMPUTES, MOVES, NUMBERS, PACKED, ElementTypes
from ..kernels.kernel_table import KernelTable

TABLE = KernelTable("cpu", COMPUTES, MOVES)

IMAGES = ElementTypes(NUMBERS, layouts={"x": BLOCKED, "w": PACKED, "y": BLOCKED})
"""The declaration of convolutions from blocked images to blocked images."""

WEIGHTS = ElementTypes(COMPUTED, layouts={"w": PACKED})
"""The declaration of products with packed weights."""

STATES = ElementTypes(COMPUTED, layouts={"r": PACKED})
"""The declaration of recurrent layers on packed weights of the state."""

DOTS = tuple(
    ElementTypes(factors, {"w": (VNNI,), "b": (sums,), "y": (result,)}, {"w": PACKED})
    for factors, sums, result in ((("ui8", "i8"), "i32", "i32"), (("bf16",), "f32", "bf16"))
)
"""The declarations of dot products: of bytes, and of bf16."""

BLOCKED_DOTS = tuple(
    replace(dots, layouts={**dots.layouts, **layouts})
    for dots in DOTS
    for layouts in ({"x": BLOCKED, "y": BLOCKED}, {"y": BLOCKED})
)
"""The same of convolutions to blocked images, of blocked and of plain ones."""

LANE_DOTS = replace(DOTS[0], layouts={"x": BLOCKED, "w": PACKED, "y": BLOCKED})
"""The declaration of depthwise convolutions of blocked images of bytes."""

BLOCK_FACTORS = {"a": ("i8",), "a_scales": ("f32",), "a_sums": ("i32",), "w": ("ui8",)}
"""The element types of what is multiplied in blocks: rounded numbers, and a matrix of few bits."""

accepts = TABLE.accepts
elementwise = TABLE.elementwise
indexed = TABLE.indexed
template = TABLE.template
