"""Post-training quantisation: run a model on data, choose scales, round values and weights."""

from .driver import quantize as quantize
