"""The format GGUF of llama.cpp."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ...targets.options import CompileOptions
from ..format import OpenedFormat
from ..generation.description import DecoderDescription

if TYPE_CHECKING:
    from ..format import OpenedReader

_ENDS = ("tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id")


class Gguf(OpenedFormat):
    """GGUF files: language models of llama.cpp, with weights of few bits."""

    name = "gguf"
    suffixes = (".gguf",)

    def open(self, source: Any, options: CompileOptions) -> "OpenedReader":
        from ..frontends.gguf.importer import OpenGguf

        opened = OpenGguf(source)
        return nullcontext(
            lambda given: opened.build(shapes=given.shapes, constants=given.constants)
        )

    def describe_decoder(self, source: Any) -> DecoderDescription:
        from ..frontends.gguf.split_files import read_model

        metadata = read_model(source).metadata
        ends = [each for key in _ENDS if type(each := metadata.get(key)) is int]
        context = metadata.get(f"{metadata.get('general.architecture')}.context_length")
        return DecoderDescription(
            ends=tuple(dict.fromkeys(ends)), context=context if type(context) is int else None
        )
