"""Quantise an imported model by what says how: a table of scales, or a config of PPL."""

from typing import Any, TypeAlias, cast

from ...dialects.core.arguments import spell
from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ..default import default_pipeline
from ..pipeline import Pipeline
from .apply_config import quantize_by_config, quantize_by_table
from .quant_config import QuantConfig
from .scale_table import FORMAT, ScaleTable, read_json

Scales: TypeAlias = ScaleTable | QuantConfig | str
"""A table of scales or a config, or the path of a file with one of them."""


def read_scales(path: str) -> ScaleTable | QuantConfig:
    """Read a file: a table of scales by its `format`, all else as a config.

    Raises CompileError for what is malformed.
    """
    found = read_json(path)
    is_table = isinstance(found, dict) and cast("dict[str, Any]", found).get("format") == FORMAT
    return ScaleTable.load(path) if is_table else QuantConfig.load(path)


def simplify(module: Module) -> None:
    """Simplify an imported module to the values that scales are for."""
    Pipeline(default_pipeline(1, quantized=True, prepares=False)).run(module)


def apply_scales(module: Module, given: Scales, per_tensor: bool = False) -> None:
    """Simplify and quantise an imported module, as `trivium.quantize` does.

    Raises CompileError for what is malformed, and for names that the model does not have.
    """
    scales = _scales(given)
    simplify(module)
    if isinstance(scales, QuantConfig):
        quantize_by_config(module, scales, per_tensor)
    else:
        quantize_by_table(module, scales, per_tensor)


def _scales(given: object) -> ScaleTable | QuantConfig:
    if isinstance(given, ScaleTable | QuantConfig):
        return given
    if isinstance(given, str):
        return read_scales(given)
    must = "a table of scales, a config, or the path of a file with one"
    raise CompileError(f"quantization is {spell(given)}, must be {must}")
