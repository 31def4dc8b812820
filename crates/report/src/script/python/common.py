

class Reply:
    """A message of the system."""

    def __init__(self, data, status=0, headers=None, cookies=None):
        self.data, self.status, self.headers, self.cookies = data, status, headers or {}, cookies or {}
        self.text = data.hex() if IS_BINARY else data.decode(errors="replace")

    def __str__(self):
        return (f"status {self.status} " if self.status else "") + self.text

    def member(self, pointer):
        value = json.loads(self.text)
        for key in pointer.split("/")[1:]:
            key = key.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return value if isinstance(value, str) else json.dumps(value)

    def group(self, pattern, name):
        return group_of(self.text, pattern, name)


def group_of(text, pattern, name):
    return re.fullmatch(pattern, text)[name]


def unless_missing(read, old):
    try:
        return read()
    except (KeyError, IndexError, TypeError, ValueError):
        return old


def percent(text):
    return urllib.parse.quote(text, safe="-._~")


def basic(user, password):
    both = os.environ[user] + ":" + os.environ[password]
    return base64.b64encode(both.encode()).decode()


def inside(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]


def words(text, first, n):
    found = list(re.finditer(r"[\w-]+", text))
    return text[found[first].start():found[first + n - 1].end()]


def number(text, width, order):
    return int(text).to_bytes(width, order, signed=int(text) < 0).hex()


def fits(reply, form, values=()):
    (statuses, pattern, members) = form
    try:
        return (
            (not statuses or any(least <= reply.status <= most for least, most in statuses))
            and (pattern is None or re.fullmatch(pattern, reply.text) is not None)
            and all(reply.member(pointer) == text for pointer, text in members)
            and all(read(reply) == text for read, text in values)
        )
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return False


def check(step, reply, form):
    """Stops if the run goes another way than the recorded one."""
    print(f"step {step}:", "no reply" if reply is None else reply)
    if reply is None or not fits(reply, form):
        raise RuntimeError(f"the run went another way at step {step}: {reply}")


def check_silence(step, reply):
    if reply is not None:
        raise RuntimeError(f"the run went another way at step {step}: {reply}")


def expect(reply, allowed, silence, forbidden):
    """Fails unless the reply is one that the model allows."""
    is_allowed = silence if reply is None else any(fits(reply, *test) for _, test in allowed)
    if not is_allowed or (forbidden is not None and reply is not None and fits(reply, *forbidden)):
        names = [name for name, _ in allowed] + (["no reply"] if silence else [])
        got = "no reply" if reply is None else reply
        raise AssertionError(f"got {got}; the model allows {' or '.join(names) or 'nothing'}")


def expect_other(reply, forbidden):
    """Fails if the reply is the wrong one again."""
    if reply is not None and fits(reply, *forbidden):
        raise AssertionError(f"got {reply}, which the model does not allow")


def main(test):
    try:
        test()
    except AssertionError as failure:
        sys.exit(f"FAILED: {failure}")
    print("passed: the failure did not show")
