

class Link:
    """A connection to the system."""

    def __init__(self, place=None, framing=None, is_joined=None, tls=None, environment=None):
        self.chunks, self.buffer = queue.Queue(), b""
        place = place or PLACE
        self.framing = framing or FRAMING
        self.is_joined = IS_JOINED if is_joined is None else is_joined
        if isinstance(place, str):
            command = ["sh", "-c", place]
            environment = {**os.environ, **(environment or ENVIRONMENT)}
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            read = lambda: os.read(self.process.stdout.fileno(), 65536)
            self.write = lambda data: (self.process.stdin.write(data), self.process.stdin.flush())
        else:
            try:
                self.socket = socket.create_connection(place, timeout=REPLY_SECONDS)
                if tls is not None:
                    self.socket = encrypt(self.socket, place[0], tls)
            except OSError as error:
                sys.exit(f"cannot reach {place[0]}:{place[1]}: {error}; start the system first")
            self.socket.settimeout(None)
            read = lambda: self.socket.recv(65536)
            self.write = self.socket.sendall
        threading.Thread(target=self.collect, args=(read,), daemon=True).start()

    def collect(self, read):
        try:
            while chunk := read():
                self.chunks.put(chunk)
        except OSError:
            pass
        self.chunks.put(b"")

    def send(self, data):
        if self.framing[0] == "length":
            data = len(data).to_bytes(self.framing[1], "big") + data
        try:
            self.write(data)
        except OSError:
            pass  # what is missing is seen where a reply is awaited

    def cut(self):
        """Takes a whole frame off the buffer; None if there is none."""
        kind, data = self.framing[0], self.buffer
        if kind == "mark":
            at = data.find(self.framing[1])
            if at < 0:
                return None
            self.buffer = data[at + len(self.framing[1]):]
            return data[:at].rstrip(b"\r") if self.framing[1] == b"\n" else data[:at]
        start, end = 0, self.framing[1]
        if kind == "length":
            start, end = self.framing[1], self.framing[1] + int.from_bytes(data[:self.framing[1]], "big")
        elif kind == "counted":
            _, at, width, order, uncounted = self.framing
            if len(data) < at + width:
                return None
            end = uncounted + int.from_bytes(data[at:at + width], order)
        if len(data) < max(start, end):
            return None
        self.buffer = data[end:]
        return data[start:end]

    def frame(self, deadline):
        while (frame := self.cut()) is None:
            try:
                chunk = self.chunks.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                return None
            if not chunk:
                self.chunks.put(b"")
                return None
            self.buffer += chunk
        return frame

    def receive(self, seconds, patterns):
        """Returns the next message; None if none comes in time, or the system ends."""
        deadline = time.monotonic() + seconds
        data = self.frame(deadline)
        if data is None:
            return None
        # A message of several frames goes on until it is one of those that may come.
        while self.is_joined and not any(re.fullmatch(pattern, data.decode(errors="replace")) for pattern in patterns):
            more = self.frame(min(deadline, time.monotonic() + SILENCE_SECONDS))
            if more is None:
                break
            data += b"\n" + more
        return Reply(data)
