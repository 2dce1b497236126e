"""What can go wrong between a package and a result; every message is one line."""

_ESCAPED = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


class Fault(Exception):
    """Tell what is the matter and what to do about it.

    Control characters, which names may have, are shown escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message.translate(_ESCAPED))


class PackageError(Fault):
    """Refuse a file that is foreign, truncated, corrupt, too new or cannot be written."""


class RunError(Fault):
    """Refuse a call: a wrong input, a busy session, a machine that lacks what is needed."""
