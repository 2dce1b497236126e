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
from .weights import MadeWeights


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
    return OpenGguf(source).build(shapes=shapes, constants=constants)


class OpenGguf:
    """Hold a file whose decoder may be built several times: its weights are made once."""

    def __init__(self, source: str | os.PathLike[str]) -> None:
        """Read a file and check it; raises CompileError as `import_gguf`."""
        self._source = source
        file = read_model(source)
        self._decoder = read_hyperparameters(file)
        self._tensors = check_tensors(file, self._decoder)
        self._made = MadeWeights()

    def build(
        self, *, shapes: Bindings | None = None, constants: Mapping[str, Array] | None = None
    ) -> Module:
        """Translate the decoder, as `import_gguf` does."""
        if constants:
            raise CompileError(f"'{self._source}' is a GGUF file: its inputs take no constants")
        with ir.Location.unknown():
            return DecoderBuilder(self._decoder, self._tensors, self._made).build(shapes or {})
