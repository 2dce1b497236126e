"""Translate GGUF files to `tri`."""

import os
from collections.abc import Mapping

from ....dialects.core.errors import CompileError
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.tensor import Array, Bindings
from .builder import DecoderBuilder
from .hyperparameters import read_hyperparameters
from .split_files import read_model
from .tensors import check_tensors


def import_gguf(
    source: str | os.PathLike[str],
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Module:
    """Translate the decoder of a GGUF file to a `tri` module in the current context.

    Inputs are `input_ids`, i64 [batch, length], `attention_mask`, i64 [batch, rows in use after
    the run], and the cache, `past_key_values.N.key` and `.value`, f32 [batch, heads, rows, size];
    outputs are `logits`, f32 [batch, length, words], and the cache, `present.N.key` and `.value`.
    `shapes` binds these sizes by name, or whole inputs. Raises CompileError for a file that is
    damaged, and with everything that is unsupported or does not fit, all at once.
    """
    if constants:
        raise CompileError(f"'{source}' is a GGUF file: its inputs take no constants")
    file = read_model(source)
    decoder = read_hyperparameters(file)
    tensors = check_tensors(file, decoder)
    with ir.Location.unknown():
        return DecoderBuilder(decoder, tensors).build(shapes or {})
