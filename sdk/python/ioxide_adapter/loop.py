"""An event loop in a thread of its own: coroutines of a system run there, and what they leave running goes on."""

import asyncio
import threading
from typing import Any, Awaitable, Optional, TypeVar

T = TypeVar("T")


class Loop:
    """Runs coroutines for callers that are none; the thread is started when it is first needed."""

    def __init__(self) -> None:
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._thread: Optional[threading.Thread] = None

    def run(self, awaitable: Awaitable[T]) -> T:
        """What `awaitable` comes to; other tasks of the loop go on meanwhile and afterwards."""

        async def awaited() -> T:
            return await awaitable

        return asyncio.run_coroutine_threadsafe(awaited(), self._started()).result()

    def is_started(self) -> bool:
        """Whether there is a thread in which coroutines may go on."""
        return self._thread is not None

    def is_current(self) -> bool:
        """Whether the caller runs in the loop."""
        return self._thread is not None and self._thread.ident == threading.get_ident()

    def cancel(self) -> None:
        """Ends all tasks that were left running; those that end badly are nobody's business any more."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(_cancelled(), self._loop).result()

    def stop(self) -> None:
        """Ends all tasks, and the thread."""
        if self._loop is None or self._thread is None:
            return
        self.cancel()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop, self._thread = None, None

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
            self._thread.start()
        return self._loop


async def _cancelled() -> None:
    others: "list[asyncio.Task[Any]]" = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
