"""Connects ioxide to the system under test: one JSON object per line, in both directions.

Replace `Login` by your own program; `main` can stay as it is.
"""

import json
import os
import sys

BUG = os.environ.get("BUG") == "1"  # the bug: the third wrong PIN does not lock


class Login:
    """The system under test: a login that locks after three wrong PINs."""

    def __init__(self):
        self.left = 3
        self.inside = False

    def take(self, label, args):
        """Handles one input and returns the replies: (label, fields)."""
        if label == "LOGOUT":
            if not self.inside:
                return []
            self.inside = False
            return [("BYE", {})]
        if self.left == 0:
            return [("LOCKED", {})]
        if args["pin"] == 1234:
            self.left, self.inside = 3, True
            return [("WELCOME", {})]
        self.left -= 1
        if self.left == 0 and not BUG:
            return [("LOCKED", {})]
        return [("WRONG", {"left": self.left})]


def say(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


def main():
    say("hello", protocol=1, name="login", reset="message")
    system = Login()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] in ("configure", "reset"):
            system = Login()
            say("ready")
        elif message["type"] == "input":
            say("sent", id=message["id"])
            for label, fields in system.take(message["label"], message.get("args", {})):
                say("output", label=label, args=fields)
        elif message["type"] == "bye":
            say("bye")
            return


if __name__ == "__main__":
    main()
