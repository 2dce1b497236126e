"""Text that comes in pieces: whole characters, and nothing of the strings that end it."""

from collections.abc import Sequence

import pytest
from trivium.runtime.generation.text import TextStream


class Bytes:
    """Has a token for each byte."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode(errors="replace")

    def get_vocab_size(self) -> int:
        return 256


def pieces(text: str, *stop: str) -> list[str]:
    stream = TextStream(Bytes(), stop)
    made = [stream.add(token) for token in text.encode()]
    return [*made, stream.finish()]


def test_a_character_of_several_tokens_comes_as_a_whole() -> None:
    assert pieces("aé€") == ["a", "", "é", "", "", "€", ""]


@pytest.mark.parametrize(
    ("text", "stop", "wanted"),
    [
        ("one\n\ntwo", ["\n\n"], "one"),
        ("one\ntwo", ["\n\n"], "one\ntwo"),
        ("one END", ["END", " E"], "one"),
        ("one EN", ["END"], "one EN"),
        ("aab", ["ab"], "a"),
        ("abababc", ["ababc"], "ab"),
    ],
)
def test_text_ends_before_a_string(text: str, stop: list[str], wanted: str) -> None:
    assert "".join(pieces(text, *stop)) == wanted


def test_what_may_be_the_beginning_of_a_string_is_held_back() -> None:
    assert pieces("a\nb", "\n\n") == ["a", "", "\nb", ""]
    assert pieces("a\n", "\n\n") == ["a", "", "\n"]
