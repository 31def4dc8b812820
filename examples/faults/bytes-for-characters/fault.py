"""Counts bytes, not characters.

Kind of fault: data: text beyond ASCII."""

from ioxide_adapter import Adapter, on_input


class Measure(Adapter):
    """Measures at once; meanwhile it takes nothing else."""

    virtual_time = True

    def reset(self) -> None:
        self.busy = False

    @on_input("measure")
    def measure(self, s: str) -> None:
        if not self.busy:
            self.busy = True
            self.after("0.25", self.tell, s)

    def tell(self, s: str) -> None:
        self.busy = False
        self.emit("length", n=len(s.encode()))


Measure().run()
