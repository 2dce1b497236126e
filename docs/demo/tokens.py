"""Measure tokens per second of a language model: of a prompt, of one text, of several at once.

python docs/demo/tokens.py PACKAGE.trv… [--past N,N] [--texts N] [--threads N] [--steps N]

The package is of `trivium compile --generate`, with at least as many texts in its `batch`. On one
thread, times are those of the processor, which others on the machine disturb least.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import trivium

Clock = Callable[[], float]


def prompts_of(generator: trivium.Generator, count: int, size: int) -> list[list[int]]:
    draw = np.random.default_rng(0).integers
    return [draw(generator.vocabulary, size=size).tolist() for _ in range(count)]


def reading(generator: trivium.Generator, size: int, clock: Clock) -> float:
    """Return how many tokens of a prompt are read in a second, the median of five prompts."""
    times: list[float] = []
    for prompt in prompts_of(generator, 5, size):
        with generator.sequence() as text:
            start = clock()
            text.append(prompt)
            times.append(clock() - start)
    return size / statistics.median(times)


def step_time(
    generator: trivium.Generator, texts: int, past: int, steps: int, clock: Clock
) -> float:
    """Return the median time of a step that makes a token of each of some texts."""
    marks: list[float] = []

    def mark(number: int, token: int) -> None:
        if number == texts - 1:
            marks.append(clock())

    generator.generate_batch(
        prompts_of(generator, texts, past), max_tokens=steps + 1, callback=mark
    )
    # The last text is read last: from its first token on, each step is one of all texts.
    return statistics.median(np.diff(marks))


def report(path: str, flags: argparse.Namespace) -> None:
    clock = time.process_time if flags.threads == 1 else time.perf_counter
    session = trivium.load(path, threads=flags.threads)
    generator = trivium.Generator(session, keep=0, ends=())
    if generator.batch < flags.texts:
        raise SystemExit(f"{path}: a step reads {generator.batch} texts, must be {flags.texts}")
    print(f"{path}, threads: {flags.threads}")
    print(f"  prompt of 128: {reading(generator, 128, clock):.0f} tokens/s")
    for past in flags.past:
        one, all_ = (step_time(generator, n, past, flags.steps, clock) for n in (1, flags.texts))
        rates = 1 / one, flags.texts / all_
        print(
            f"  past {past}: one text {rates[0]:.1f} tokens/s, "
            f"{flags.texts} texts {rates[1]:.1f} tokens/s, {rates[1] / rates[0]:.2f} times as many"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--past", default="64,512", type=lambda s: [int(n) for n in s.split(",")])
    parser.add_argument("--texts", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=25)
    flags = parser.parse_args()
    for path in flags.packages:
        report(path, flags)


if __name__ == "__main__":
    main()
