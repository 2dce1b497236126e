"""Rules of ONNX's domain for training: steps of optimisers, and gradients.

Imported by the registration of `rules/` only. Start reading at `optimizers.py`.
"""

DOMAIN = "ai.onnx.preview.training"
