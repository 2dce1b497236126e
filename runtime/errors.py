"""The errors between a package and a result; every message is one line."""


class Fault(Exception):
    """Report a fault and what to do about it.

    Characters that are not printable are escaped: names come from files.
    """

    def __init__(self, message: str) -> None:
        escaped = (c if c.isprintable() else ascii(c)[1:-1] for c in message)
        super().__init__(message if message.isprintable() else "".join(escaped))


class PackageError(Fault):
    """Refuse a file that is foreign, truncated, corrupt, too new or cannot be written."""


class RunError(Fault):
    """Refuse a call: a wrong input, a busy session, a machine that lacks what is needed."""
