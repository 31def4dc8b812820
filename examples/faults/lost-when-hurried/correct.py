"""A system that does what model.iox says."""

from ioxide_adapter import Adapter, on_input


class Jobs(Adapter):
    """One job at a time, one may wait."""

    virtual_time = True

    def reset(self) -> None:
        self.running = None
        self.waiting = None

    @on_input("job")
    def job(self, n: int) -> None:
        if self.running is None:
            self.begin(n)
        elif self.waiting is None and not self.is_second:
            self.waiting = n

    def begin(self, n: int, is_second: bool = False) -> None:
        self.running, self.begun, self.is_second = n, self.now(), is_second
        self.after(2, self.end)

    def end(self) -> None:
        self.emit("done", n=self.running)
        self.running = None
        if self.waiting is not None:
            n, self.waiting = self.waiting, None
            self.begin(n, is_second=True)


Jobs().run()
