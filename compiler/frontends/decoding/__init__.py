"""Building blocks of decoders for all frontends: heads, rotary embedding, caches, attention.

Rules of ONNX Runtime and the frontend `gguf` import it; it knows no frontend. Start reading at
`cache.py`.
"""
