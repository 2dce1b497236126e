"""The folders of onnxruntime-genai."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from ...dialects.core.module import Module
from ...targets.options import CompileOptions
from ..format import FORMATS, Format
from ..generation.description import DecoderDescription
from ..generation.genai_config import GenaiConfig, config_path


class Genai(Format):
    """Folders of onnxruntime-genai: a decoder in ONNX, and a genai_config.json beside it."""

    name = "genai"

    def accepts(self, source: Any) -> bool:
        return config_path(source) is not None

    def read(self, source: Any, options: CompileOptions) -> Module:
        return FORMATS["onnx"].read(_config(source).file, options)

    def open(
        self, source: Any, options: CompileOptions
    ) -> AbstractContextManager[Callable[[CompileOptions], Module]]:
        return FORMATS["onnx"].open(_config(source).file, options)

    def describe_decoder(self, source: Any) -> DecoderDescription:
        return _config(source).description

    def name_of(self, source: Any) -> str:
        return FORMATS["onnx"].name_of(_config(source).file)


def _config(source: Any) -> GenaiConfig:
    path = config_path(source)
    assert path is not None, "the format accepts the source"
    return GenaiConfig(path)
