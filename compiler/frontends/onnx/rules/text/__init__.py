"""ONNX rules for text.

Start reading at `strings.py`.
"""
