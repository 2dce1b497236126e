"""Rules of the operators that ONNX Runtime adds, as its optimiser and its quantisers write them.

Imported by the registration of `rules/` only. Start reading at `recurrent.py`.
"""

DOMAIN = "com.microsoft"
