"""What can go wrong between a package and a result; every message is one line."""


class Fault(Exception):
    """Tell what is the matter and what to do about it."""


class PackageError(Fault):
    """Refuse a file that is foreign, truncated, corrupt, too new or cannot be written."""


class RunError(Fault):
    """Refuse a call: a wrong input, a busy session, a machine that lacks what is needed."""
