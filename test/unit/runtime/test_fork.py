import threading

from trivium.runtime.fork import ForkSafeLock


def test_a_thread_may_take_a_lock_again_and_another_waits():
    lock, order = ForkSafeLock(), list[str]()

    def wait() -> None:
        with lock:
            order.append("other")

    other = threading.Thread(target=wait)
    with lock:
        other.start()
        with lock:
            order.append("inner")
        other.join(0.05)
        order.append("outer")
    other.join()
    assert order == ["inner", "outer", "other"]
