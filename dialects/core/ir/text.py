"""Check the text of IR before MLIR parses it.

MLIR's parser overflows the stack on text that is nested deeply, takes quadratic time for a number
of many digits, and the bindings cannot hand out strings that are not UTF-8.
"""

import re

import numpy as np

from ..errors import CompileError, Diagnostic

DEEPEST, MOST_DIGITS = 200, 1000
"""How deep brackets may be nested, and how many digits a number may have."""

_STRING = rb'"(?:[^"\\\n]|\\.)*"'
_SKIPPED = re.compile(rb"//[^\n]*|->|>=|" + _STRING)
_LITERAL = re.compile(rb"//[^\n]*|(" + _STRING + rb")")
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)")
_NOT_ASCII = re.compile(rb"\\[89A-Fa-f][0-9A-Fa-f]")
_NUMBER = re.compile(rb"(?:0x)?[0-9A-Fa-f]{%d}" % (MOST_DIGITS + 1))

_STEPS = np.zeros(256, np.int32)
_STEPS[list(b"([{<")] = 1
_STEPS[list(b")]}>")] = -1


def check_text(text: str, file: str) -> None:
    """Raise CompileError, with the place, for text that MLIR's parser must not see."""
    data = text.encode()
    if fault := _string_fault(data) or _size_fault(data):
        position, message = fault
        before = data[:position]
        line, column = before.count(b"\n") + 1, position - before.rfind(b"\n")
        raise CompileError([Diagnostic(f"{file}:{line}:{column}", message)])


def _string_fault(data: bytes) -> tuple[int, str] | None:
    """Find the first string that is not UTF-8: its position, and a message."""
    if not _NOT_ASCII.search(data):
        return None
    for found in _LITERAL.finditer(data):
        try:
            _ESCAPE.sub(_unescaped, found[1] or b"").decode()
        except UnicodeDecodeError:
            return found.start(), f"string {found[1].decode()} is not UTF-8"
    return None


def _unescaped(escape: "re.Match[bytes]") -> bytes:
    return bytes.fromhex(escape[1].decode()) if len(escape[1]) == 2 else escape[1]


def _size_fault(data: bytes) -> tuple[int, str] | None:
    """Find nesting that is too deep or a number that is too long: its position, and a message."""
    code = _SKIPPED.sub(lambda found: b" " * len(found[0]), data)
    if long := _NUMBER.search(code):
        return long.start(), f"word has more than {MOST_DIGITS} digits"
    depth = np.cumsum(_STEPS[np.frombuffer(code, np.uint8)])
    deep = np.flatnonzero(depth > DEEPEST)
    if deep.size:
        return int(deep[0]), f"brackets are nested more than {DEEPEST} deep"
    return None
