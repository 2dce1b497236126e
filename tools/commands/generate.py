"""Go on with a text by a package that was compiled with --generate, or by a model of a decoder.

The prompt is text, which a tokenizer turns into tokens, or tokens. What follows is printed as it is
made; how long that took goes to standard error.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import arguments
from ..progress import shown_progress
from ..tokenizer_file import open_tokenizer

if TYPE_CHECKING:
    from ...runtime.generation.generator import Generator
    from ...runtime.package import Package
    from ...runtime.session import Session

SAMPLING = ("temperature", "top_p", "min_p", "repetition_penalty", "top_k", "seed")
"""The fields of `Sampling` that have flags."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help=f"a package (.trv), {arguments.MODEL}, a GGUF file, or a folder of onnxruntime-genai",
    )
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT", help="the text to go on with")
    prompt.add_argument(
        "--ids", metavar="N,N,...", type=_ids, help="the tokens to go on with; tokens are printed"
    )
    parser.add_argument(
        "--tokenizer",
        metavar="FILE.json",
        help="the file of a tokenizer of Hugging Face; by default that in the folder MODEL",
    )
    parser.add_argument(
        "--max-tokens",
        metavar="N",
        type=arguments.count,
        default=128,
        help="how many tokens are made at most, 128 by default",
    )
    parser.add_argument(
        "--stop",
        metavar="TEXT",
        action="append",
        default=[],
        help="text that ends the output, or with --ids a token; may be given several times",
    )
    _add_sampling(parser)
    guesses = parser.add_mutually_exclusive_group()
    guesses.add_argument(
        "--draft", metavar="MODEL", help="a smaller model of the same vocabulary that guesses ahead"
    )
    guesses.add_argument(
        "--lookup", action="store_true", help="guess ahead by what stands in the text already"
    )
    arguments.add_load_arguments(parser)
    arguments.add_compile_arguments(parser)


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how a token is chosen")
    helps = {
        "temperature": "draw tokens, the less likely ones more often the higher this is; 0, the "
        "default, takes the likeliest",
        "top_p": "draw among the likeliest tokens that are so likely together",
        "min_p": "draw among tokens that are at least so likely, relative to the likeliest",
        "repetition_penalty": "make tokens of the text less likely by this factor",
        "top_k": "draw among the N likeliest tokens",
        "seed": "the number that draws depend on, 0 by default",
    }
    for name in SAMPLING:
        whole = name in ("top_k", "seed")
        group.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="N" if whole else "X",
            type=int if whole else float,
            help=helps[name],
        )


def run(flags: argparse.Namespace) -> None:
    """Print what follows the prompt, then how fast it was made."""
    from ...runtime.generation.generator import Generator

    path = flags.tokenizer or (flags.prompt is not None and _tokenizer_beside(flags.model))
    if flags.prompt is not None and not path:
        flags.refuse("--prompt needs --tokenizer: give one, or tokens with --ids")
    tokenizer = open_tokenizer(path) if path else None
    draft = None if flags.draft is None else _session(flags, flags.draft)
    session = _session(flags, flags.model)
    generator = Generator(session, tokenizer=tokenizer, draft=draft, lookup=flags.lookup)
    _print_stream(generator, flags)


def _tokenizer_beside(model: str) -> str | None:
    """Return the path of the tokenizer in the folder of a model, None where there is none."""
    path = Path(model) / "tokenizer.json"
    return str(path) if path.is_file() else None


def _print_stream(generator: "Generator", flags: argparse.Namespace) -> None:
    from ...runtime.generation.sampling import Sampling

    given = {name: getattr(flags, name) for name in SAMPLING if getattr(flags, name) is not None}
    sampling = Sampling(**{**vars(generator.sampling), **given})
    wanted: dict[str, Any] = {"max_tokens": flags.max_tokens, "sampling": sampling}
    clock = _Clock()
    if flags.ids is None:
        tokens = generator.tokens_of(flags.prompt)
        text = generator.stream_text(tokens, stop=flags.stop, callback=clock.tick, **wanted)
        for piece in text:
            print(piece, end="", flush=True)
    else:
        tokens = flags.ids
        stop = [_token(flags, each) for each in flags.stop]
        for i, token in enumerate(generator.stream(tokens, stop=stop, **wanted)):
            clock.tick(token)
            print(f"{' ' * bool(i)}{token}", end="", flush=True)
    print(flush=True)
    print(clock.spell(len(tokens)), file=sys.stderr)


class _Clock:
    """Measure when the first token is made, and when the last one is."""

    def __init__(self) -> None:
        self._times = [time.perf_counter()]

    def tick(self, token: int) -> None:
        self._times.append(time.perf_counter())

    def spell(self, read: int) -> str:
        """Return how many tokens a second were read, and made after the first one."""
        made = len(self._times) - 1
        text = f"prompt of {read} tokens"
        if made:
            text += f" at {_rate(read, self._times[1] - self._times[0])}"
        text += f", {made} tokens made"
        return text + (
            f" at {_rate(made - 1, self._times[-1] - self._times[1])}" if made > 1 else ""
        )


def _rate(count: int, seconds: float) -> str:
    return f"{count / max(seconds, 1e-9):.1f} tokens/s"


def _session(flags: argparse.Namespace, path: str) -> "Session":
    from ...runtime.session import Session

    return Session(_package(flags, path), **arguments.session_options(flags))


def _package(flags: argparse.Namespace, path: str) -> "Package":
    if arguments.is_package(path):
        if refused := arguments.given_compile_arguments(flags):
            flags.refuse(f"{', '.join(refused)}: '{path}' is compiled already")
        return arguments.open_package(flags, path)
    from ...compiler.driver import build

    arguments.refuse_key(flags, path)
    given: dict[str, Any] = {"generate": True, **arguments.compile_arguments(flags)}
    with shown_progress() as progress:
        return build(path, progress=progress, **given)


def _ids(text: str) -> list[int]:
    listed = text.split(",")
    if not all(each.strip().isdecimal() for each in listed):
        raise argparse.ArgumentTypeError(f"'{text}' must be tokens such as 1,2,3")
    return [int(each) for each in listed]


def _token(flags: argparse.Namespace, text: str) -> int:
    if not text.isdecimal():
        flags.refuse(f"--stop '{text}' must be a token, a number, with --ids")
    return int(text)
