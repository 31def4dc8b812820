

class ProtocolLink(Link):
    """A connection to an adapter that speaks the protocol of ioxide: a JSON object per line."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.n_inputs = 0
        self.await_type("hello")
        self.send(json.dumps({"type": "configure", "settings": {}, "instance": 0}).encode() + b"\n")
        self.await_type("ready")

    def await_type(self, *kinds, seconds=REPLY_SECONDS):
        deadline = time.monotonic() + seconds
        while (line := self.frame(deadline)) is not None:
            if json.loads(line).get("type") in kinds:
                return Reply(line)
        return None

    def send_input(self, text):
        self.n_inputs += 1
        message = {"type": "input", "id": self.n_inputs, **json.loads(text)}
        self.send(json.dumps(message).encode() + b"\n")

    def receive(self, seconds, patterns):
        return self.await_type("output", "error", seconds=seconds)


Link = ProtocolLink
