"""An asyncio loop on which waiting takes no time, as trio's MockClock with an autojump does for trio."""

import asyncio
import selectors


class _JumpingSelector(selectors.DefaultSelector):
    """Where the loop would sleep until its next timer, its clock moves there instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            # Without a timer only another thread can wake the loop, and that takes real time.
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self.now += max(timeout, 0.0)
        return ready


class AutojumpLoop(asyncio.SelectorEventLoop):
    """
    An event loop whose `time()` starts at 0 and jumps to the next timer as soon as every task waits.

    Good for a month: later, a float is too coarse for the loop's resolution of a nanosecond, and timers are never due.
    A thread or a socket that is still busy does not stop the jump: tests that wait for one are marked `real_time`.
    """

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def jump(self, seconds: float) -> None:
        """Let time pass while nobody runs, as a call that blocks the thread does."""
        self._jumping.now += seconds
