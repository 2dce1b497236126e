"""Rules of the operators of classical machine learning, domain `ai.onnx.ml`.

Class labels are integers or text. Imported by the registration of `rules/` only. Start reading at
`scaling.py`.
"""

DOMAIN = "ai.onnx.ml"
