"""Use clones of a session in several threads at once."""

import threading
from collections.abc import Callable

from trivium.runtime.session import Session


def use_clones(session: Session, runs: int, use: Callable[[Session, int, int], None]) -> None:
    """Call `use` with a clone, the number of its thread and that of the call, in four threads.

    Each thread makes `runs` calls. Raises AssertionError with all that went wrong in them.
    """
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            with session.clone() as twin:
                for run in range(runs):
                    use(twin, thread, run)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
