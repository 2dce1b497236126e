"""Read GGUF files of llama.cpp: a decoder is built from a header and tensors by name.

`compiler/formats/gguf.py` imports it; it needs numpy only, and no package that writes such files.
`file.py` knows the format, `blocks.py` the types of tensors, `architectures.py` how models differ;
`builder.py`, the place to start reading, builds the graph, with names and ports as
onnxruntime-genai's models have them.
"""

from .importer import import_gguf as import_gguf
