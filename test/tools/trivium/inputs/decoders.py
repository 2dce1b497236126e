"""Write decoders with random weights, and tokenizers of single characters, to a folder."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import onnx
from trivium.test.unit.generated_decoders import LLAMA, decoder

FOLDER = Path(sys.argv[1])
WORDS = "abcdefghijklmnopqrstuvwxyz .,!?:;-'01234"


def tokenizer(words: str) -> str:
    """Return the file of a tokenizer that has one token for each character."""
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"Regex": "."},
                "behavior": "Isolated",
                "invert": False,
            },
            "post_processor": None,
            "decoder": {"type": "Fuse"},
            "model": {
                "type": "WordLevel",
                "vocab": {word: i for i, word in enumerate(words)},
                "unk_token": "?",
            },
        }
    )


FOLDER.mkdir(parents=True, exist_ok=True)
onnx.save(decoder(replace(LLAMA, layers=1)), FOLDER / "llama.onnx")
(FOLDER / "tokenizer.json").write_text(tokenizer(WORDS))
(FOLDER / "large.json").write_text(tokenizer(WORDS + "ABC"))
(FOLDER / "broken.json").write_text("{")

(FOLDER / "genai").mkdir(exist_ok=True)
onnx.save(decoder(replace(LLAMA, layers=1)), FOLDER / "genai" / "model.onnx")
(FOLDER / "genai" / "tokenizer.json").write_text(tokenizer(WORDS))
CONFIG = {
    "model": {"context_length": 64, "decoder": {"filename": "model.onnx"}},
    "search": {"do_sample": True, "temperature": 1.5, "top_p": 1.0},
}
(FOLDER / "genai" / "genai_config.json").write_text(json.dumps(CONFIG))
