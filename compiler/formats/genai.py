"""The folders of onnxruntime-genai."""

from typing import TYPE_CHECKING, Any

from ...targets.options import CompileOptions
from ..format import FORMATS, OpenedFormat
from ..generation.description import DecoderDescription
from ..generation.genai_config import GenaiConfig, config_path

if TYPE_CHECKING:
    from ..format import OpenedReader


class Genai(OpenedFormat):
    """Folders of onnxruntime-genai: a decoder in ONNX, and a genai_config.json beside it."""

    name = "genai"

    def accepts(self, source: Any) -> bool:
        return config_path(source) is not None

    def open(self, source: Any, options: CompileOptions) -> "OpenedReader":
        return FORMATS["onnx"].open(_config(source).file, options)

    def describe_decoder(self, source: Any) -> DecoderDescription:
        return _config(source).description

    def name_of(self, source: Any) -> str:
        return FORMATS["onnx"].name_of(_config(source).file)


def _config(source: Any) -> GenaiConfig:
    path = config_path(source)
    assert path is not None, "the format accepts the source"
    return GenaiConfig(path)
