"""Write language models to measure as GGUF files: Llama's architecture with random weights.

python docs/demo/language_models.py FOLDER [--layers N] [--width N] [--vocabulary N]

The default has 336 million parameters: 24 layers of 1024, 16 heads in groups of 4, 32000 tokens.
Random weights change no time. Needs the package `gguf`.
"""

import argparse
from pathlib import Path

import gguf
import numpy as np

CONTEXT, HEAD, GROUP = 2048, 64, 4
TYPES = ("F32", "Q8_0", "Q4_0")


class Weights:
    """Add matrices of one type to a file."""

    def __init__(self, writer: gguf.GGUFWriter, type_name: str) -> None:
        self.writer = writer
        self.type = gguf.GGMLQuantizationType[type_name]
        self.random = np.random.default_rng(0)

    def matrix(self, name: str, rows: int, columns: int) -> None:
        drawn = self.random.standard_normal((rows, columns), np.float32) * np.float32(0.02)
        self.writer.add_tensor(name, gguf.quants.quantize(drawn, self.type), raw_dtype=self.type)

    def norm(self, name: str, size: int) -> None:
        self.writer.add_tensor(name, np.ones(size, np.float32))


def write_model(path: Path, type_name: str, layers: int, width: int, vocabulary: int) -> None:
    """Write a model whose matrices are of a type of GGUF."""
    inner, keys = width * 11 // 4 // 32 * 32, width // GROUP
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(width // HEAD)
    writer.add_head_count_kv(keys // HEAD)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(HEAD)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(vocabulary)
    writer.add_tokenizer_model("no_vocab")
    weights = Weights(writer, type_name)
    weights.matrix("token_embd.weight", vocabulary, width)
    for layer in (f"blk.{number}" for number in range(layers)):
        weights.norm(f"{layer}.attn_norm.weight", width)
        for name, rows in (("q", width), ("k", keys), ("v", keys), ("output", width)):
            weights.matrix(f"{layer}.attn_{name}.weight", rows, width)
        weights.norm(f"{layer}.ffn_norm.weight", width)
        weights.matrix(f"{layer}.ffn_gate.weight", inner, width)
        weights.matrix(f"{layer}.ffn_up.weight", inner, width)
        weights.matrix(f"{layer}.ffn_down.weight", width, inner)
    weights.norm("output_norm.weight", width)
    weights.matrix("output.weight", vocabulary, width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--width", type=int, default=1024, help="a multiple of 256")
    parser.add_argument("--vocabulary", type=int, default=32000)
    flags = parser.parse_args()
    flags.folder.mkdir(parents=True, exist_ok=True)
    for type_name in TYPES:
        path = flags.folder / f"{type_name.lower()}.gguf"
        write_model(path, type_name, flags.layers, flags.width, flags.vocabulary)
        print(path)


if __name__ == "__main__":
    main()
