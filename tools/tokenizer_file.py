"""Open the file of a tokenizer of Hugging Face, by the package `tokenizers`."""

from importlib import import_module
from typing import TYPE_CHECKING, cast

from ..dialects.core.extras import require
from ..runtime.errors import RunError

if TYPE_CHECKING:
    from ..runtime.generation.text import Tokenizer


def open_tokenizer(path: str) -> "Tokenizer":
    """Read a `tokenizer.json`; raise RunError for a file that is none.

    Raises CompileError where the package is not installed.
    """
    require("tokenizers", "reading a tokenizer")
    made = import_module("tokenizers").Tokenizer
    try:
        return cast("Tokenizer", made.from_file(path))
    except Exception as error:  # the package raises this very class
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RunError(f"cannot read the tokenizer '{path}': {reason}") from None
