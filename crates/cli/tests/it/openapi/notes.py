"""A collection of notes, as notes.yaml says: python3 notes.py PORT. NOTES_FAULT: delete, patch, list, long, method,
allow, content.

`delete`: a note that was deleted is still there. `patch`: a change of the text alone clears the tag. `list`: the
fourth note is not listed. `long`: titles of any length are accepted. `method`: POST on a note changes it. `allow`: the
header `Allow` lacks a method. `content`: a new note may be sent as plain text. PUT is answered 501, as servers do that
do not know it.
"""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULT = os.environ.get("NOTES_FAULT", "")
notes = {}
numbers = iter(range(1, 1_000_000))


def problem_of(body, is_patch):
    if not isinstance(body, dict):
        return "no object"
    if not is_patch and "title" not in body:
        return "no title"
    for name in ("title", "tag"):
        value = body.get(name, "ok")
        if not isinstance(value, str):
            return name + " is not text"
        if name == "title" and not value or len(value) > 12 and FAULT != "long":
            return name + " has a wrong length"
    return None


class Notes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=None, allow=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        if allow is not None:
            self.send_header("Allow", allow)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def route(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        found = re.fullmatch("/notes/(-?[0-9]+)", path)
        number = int(found[1]) if found else None
        methods = ["GET", "POST"] if path == "/notes" else ["GET", "PATCH", "DELETE"]
        if FAULT == "method" and found and self.command == "POST":
            return self.answer(200, {})
        if self.command not in methods:
            return self.answer(405, {}, ", ".join(methods[FAULT == "allow":]))
        if text and self.headers["Content-Type"] != "application/json" and not (FAULT == "content" and not found):
            return self.answer(415, {"problem": "no JSON"})
        body = json.loads(text or b"null")
        if path == "/notes" and self.command == "GET":
            shown = list(notes.values())
            return self.answer(200, shown[:3] + shown[4:] if FAULT == "list" else shown)
        if path == "/notes" and self.command == "POST":
            problem = problem_of(body, False)
            if problem:
                return self.answer(422, {"problem": problem})
            # Surrounding spaces are taken away: no correct model compares them.
            note = {"id": next(numbers), "title": body["title"].strip() or "-", "tag": body.get("tag", ""), "looks": 0}
            notes[note["id"]] = note
            return self.answer(201, note)
        if number not in notes:
            return self.answer(404, {"problem": "no such note"})
        note = notes[number]
        if self.command == "GET":
            note["looks"] += 1
            return self.answer(200, note)
        if self.command == "PATCH":
            problem = problem_of(body, True)
            if problem:
                return self.answer(422, {"problem": problem})
            if FAULT == "patch" and "tag" not in body:
                note["tag"] = ""
            if "title" in body:
                note["title"] = body["title"].strip() or "-"
            note["tag"] = body.get("tag", note["tag"])
            return self.answer(200, note)
        if FAULT != "delete":
            del notes[number]
        return self.answer(204)

    do_GET = do_POST = do_PATCH = do_DELETE = route


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Notes).serve_forever()
