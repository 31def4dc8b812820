"""A system that does what model.iox says."""

from ioxide_adapter import Adapter, on_input


class Register(Adapter):
    """Answers after a tenth of a second."""

    virtual_time = True

    def reset(self) -> None:
        self.last = ""
        self.busy = False

    @on_input("register")
    def register(self, name: str) -> None:
        if self.busy or not name:
            return
        is_taken = name == self.last
        self.last, self.busy = name, True
        self.after("0.1", self.tell, "taken" if is_taken else "registered")

    def tell(self, label: str) -> None:
        self.busy = False
        self.emit(label)


Register().run()
