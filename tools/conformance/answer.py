"""Run one case in this process, and say how it ended."""

import time
import traceback
from typing import Any

from ...dialects.core.errors import CompileError
from .compilers import compiler_for
from .results import CRASHED, PASSED, REFUSED, WRONG
from .suite import Case, Difference


def answer(case: Case, target: str) -> dict[str, Any]:
    """Return the status of a case on a target, the message to it and how many seconds it took."""
    start = time.perf_counter()
    status, message = _run(case, target)
    return {"status": status, "message": message, "seconds": time.perf_counter() - start}


def _run(case: Case, target: str) -> tuple[str, str]:
    try:
        case.run(compiler_for(target))
    except CompileError as error:
        return REFUSED, str(error).partition("\n")[0]
    except Difference as error:
        return WRONG, _one_line(str(error))
    except Exception as error:
        return CRASHED, _spell(error)
    return PASSED, ""


def _spell(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
    return _one_line(f"{type(error).__name__} at {where}: {error}")


def _one_line(text: str, longest: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]}…"
