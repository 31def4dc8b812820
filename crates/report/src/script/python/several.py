

def tls_context(tls):
    """The encryption; tls says whom to trust, the name in the certificate, and the client's own certificate."""
    authorities, is_checked, _, identity = tls
    context = ssl.create_default_context(cafile=authorities)
    if not is_checked:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if identity is not None:
        context.load_cert_chain(*identity)
    return context


def encrypt(plain, host, tls):
    return tls_context(tls).wrap_socket(plain, server_hostname=tls[2] or host)


class Request:
    """A request that waits for its answer while other things happen."""

    def __init__(self, method, path, headers, body, url, tls):
        self.answers, sent = queue.Queue(), threading.Event()

        def run():
            try:
                self.answers.put(ask(method, path, headers, body, url, tls, sent.set))
            except SystemExit as failed:
                print(failed, file=sys.stderr)
            sent.set()

        threading.Thread(target=run, daemon=True).start()
        # The next message goes out after this one.
        sent.wait(REPLY_SECONDS)

    def receive(self, seconds, patterns=()):
        try:
            return self.answers.get(timeout=seconds)
        except queue.Empty:
            return None


class WebSocket:
    """A WebSocket (RFC 6455); its first reply is the answer to the request that opens it."""

    def __init__(self, path, headers, url, tls):
        self.replies, self.buffer = queue.Queue(), b""
        url = urllib.parse.urlsplit(url)
        is_encrypted = url.scheme == "https"
        place = (url.hostname, url.port or (443 if is_encrypted else 80))
        try:
            self.socket = socket.create_connection(place, timeout=REPLY_SECONDS)
            if is_encrypted:
                self.socket = encrypt(self.socket, place[0], tls or (None, True, None, None))
        except OSError as error:
            sys.exit(f"cannot reach {url.geturl()}: {error}; start the system first")
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"host: {url.netloc}", "upgrade: websocket", "connection: Upgrade"]
        lines += [f"sec-websocket-key: {key}", "sec-websocket-version: 13"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer and (chunk := self.socket.recv(4096)):
            self.buffer += chunk
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        self.socket.settimeout(None)
        if status:
            self.replies.put(Reply(b"", int(status[0])))
            threading.Thread(target=self.collect, daemon=True).start()

    def take(self, n):
        while len(self.buffer) < n:
            chunk = self.socket.recv(65536)
            if not chunk:
                raise OSError("closed")
            self.buffer += chunk
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def collect(self):
        message = b""
        try:
            while True:
                first, second = self.take(2)
                length = second & 0x7F
                if length > 125:
                    length = int.from_bytes(self.take(2 if length == 126 else 8), "big")
                data, kind = self.take(length), first & 0x0F
                if kind == 9:
                    self.write(0x8A, data)
                elif kind == 8:
                    return
                elif kind < 3:
                    message += data
                    if first & 0x80:
                        self.replies.put(Reply(message))
                        message = b""
        except (OSError, ValueError):
            pass

    def write(self, first, data):
        n, mask = len(data), os.urandom(4)
        length = bytes([0x80 | n]) if n < 126 else bytes([0xFE]) + n.to_bytes(2, "big")
        if n > 0xFFFF:
            length = bytes([0xFF]) + n.to_bytes(8, "big")
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        try:
            self.socket.sendall(bytes([first]) + length + mask + masked)
        except OSError:
            pass  # what is missing is seen where a reply is awaited

    def send(self, text):
        self.write(0x81, text.encode())

    def receive(self, seconds, patterns=()):
        try:
            return self.replies.get(timeout=seconds)
        except queue.Empty:
            return None


def next_reply(sources, seconds):
    """Returns the next message on any of the connections; None if none comes in time."""
    deadline = time.monotonic() + seconds
    while True:
        for source in sources:
            reply = source.receive(0, [])
            if reply is not None:
                return reply
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.01)
