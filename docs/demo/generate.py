"""Generation: train a small Llama of characters, compile it, and let it write docstrings.

    make demo-generate

Trains for a minute of one CPU on the docstrings of Python's library, writes the model with weights
of f32 and of 4 bits, compiles both, and goes on with a beginning. The exit code is 1 where the f32
package does not choose torch's own characters. After the name of this file may stand for how many
seconds it trains, and the folder where it leaves model, tokenizer and packages.
"""

import sys
import time
from pathlib import Path

import numpy as np
import onnx
import torch
import trivium
from characters import CHARACTERS, Llama, Sizes, encode, texts, train, write_tokenizer
from llama import decoder

BUILD = Path(__file__).resolve().parents[2] / "build" / "generate"
CAPACITY = 512
WINDOW, WINDOWS = 256, 16
PROMPT = "Return the "


def main(seconds: float = 60, folder: Path = BUILD) -> int:
    """Train, compile, generate, compare; say at each step what happened."""
    folder.mkdir(parents=True, exist_ok=True)
    trained, held_out = texts()
    print(f"training on {len(trained)} characters for {seconds:g} s")
    model = train(seconds, trained, Sizes())
    write_tokenizer(folder / "tokenizer.json")
    generators = {name: compile_model(model, name, folder) for name in ("f32", "int4")}
    print(f"perplexity of a character ({len(CHARACTERS)} for equally likely ones):")
    for name, generator in generators.items():
        print(f"  {name:5} {perplexity(generator, encode(held_out)):.3f}")
    for name, generator in generators.items():
        show(name, generator)
    wanted = words_of(model, encode(PROMPT), 100)
    same = generators["f32"].generate(encode(PROMPT), max_tokens=100) == wanted
    print(f"the 100 likeliest characters are {'those' if same else 'NOT those'} of torch")
    return 0 if same else 1


def compile_model(model: Llama, name: str, folder: Path) -> trivium.Generator:
    """Write a model, compile it to a package, and return what generates by it."""
    path = folder / f"characters.{name}.onnx"
    onnx.save(decoder(model, CAPACITY, name == "int4"), path)
    session = trivium.compile(path, generate={"capacity": CAPACITY, "batch": 4})
    session.save(path.with_suffix(".trv"))
    size = path.with_suffix(".trv").stat().st_size
    print(f"{path.with_suffix('.trv').name}: {size / 1024:.0f} KiB")
    return trivium.Generator(session)


def perplexity(generator: trivium.Generator, tokens: list[int]) -> float:
    """Return e to the mean surprise of each token but the first, in windows of a text."""
    losses: list[float] = []
    for first in range(0, WINDOW * WINDOWS, WINDOW):
        window = tokens[first : first + WINDOW]
        with generator.sequence() as text:
            logits = text.append_each(window[:-1]).astype(np.float64)
        logits -= logits.max(-1, keepdims=True)
        chosen = logits[np.arange(len(logits)), window[1:]]
        losses += (np.log(np.exp(logits).sum(-1)) - chosen).tolist()
    return float(np.exp(np.mean(losses)))


def show(name: str, generator: trivium.Generator) -> None:
    """Print text that a generator draws, and how fast."""
    sampling = trivium.Sampling(temperature=0.7, top_p=0.9, seed=1)
    begin = time.perf_counter()
    made = generator.generate(encode(PROMPT), max_tokens=300, sampling=sampling)
    rate = len(made) / (time.perf_counter() - begin)
    text = PROMPT + "".join(CHARACTERS[token] for token in made)
    print(f"\n{name}, {rate:.0f} characters/s:\n  " + text.replace("\n", "\n  ") + "\n")


def words_of(model: Llama, tokens: list[int], count: int) -> list[int]:
    """Return the tokens that torch finds likeliest, without caches."""
    text = list(tokens)
    with torch.no_grad():
        for _ in range(count):
            text.append(int(model(torch.tensor([text]))[0, -1].argmax()))
    return text[len(tokens) :]


if __name__ == "__main__":
    given = zip((float, Path), sys.argv[1:], strict=False)
    sys.exit(main(*(read(text) for read, text in given)))
