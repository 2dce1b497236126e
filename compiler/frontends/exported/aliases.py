"""The operators of ATen whose results may be views of what they take. No MLIR.

Source: the schemas of torch 2.13, and the functions that may return what they take.
"""

_ANNOTATED = """
_conj _neg_view _reshape_alias adjoint alias as_strided broadcast_to chunk conj contiguous detach
diagonal dsplit expand expand_as flatten hsplit imag lift_fresh linalg_diagonal mH mT matrix_H
moveaxis movedim narrow numpy_T permute pin_memory positive ravel real reshape reshape_as
resolve_conj resolve_neg select slice split split_with_sizes squeeze swapaxes swapdims t
tensor_split to transpose unbind unflatten unfold unsqueeze values view view_as view_as_complex
view_as_real vsplit
"""
"""Operators whose schemas say that a result is a view."""

_BEFORE_2_13 = "align_to refine_names rename"
"""Those of earlier versions of torch alone."""

_OTHERS = """
alpha_dropout atleast_1d atleast_2d atleast_3d broadcast_tensors cartesian_prod cpu dropout einsum
feature_alpha_dropout feature_dropout meshgrid type_as
"""
"""Operators that return what they take in some cases."""

VIEWS = frozenset(f"aten::{name}" for name in " ".join((_ANNOTATED, _BEFORE_2_13, _OTHERS)).split())


def may_alias(type_: str) -> bool:
    """Return whether results of an operator, `aten::view`, may be views of its operands."""
    return type_.partition(".")[0] in VIEWS or not type_.startswith("aten::")
