"""Photos sent as forms in parts, and settings, as studio.yaml says: python3 studio.py PORT.

STUDIO_FAULT: `copies`: the number of copies of a form is ignored. `file`: a form without a file is accepted. `default`:
a photo without copies has two. `theme`: a new theme is answered, but not kept. `patch`: a change of the theme sets the
size back. `frame`: the frame of a photo is that of all.
"""

import email
import email.policy
import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULT = os.environ.get("STUDIO_FAULT", "")
photos = {}
frames = {}
numbers = iter(range(1, 1_000_000))
settings = {"theme": "light", "size": 20}


def read_form(kind, text):
    head = b"Content-Type: " + kind.encode() + b"\r\n\r\n"
    message = email.message_from_bytes(head + text, policy=email.policy.HTTP)
    parts = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        parts[name] = part.get_payload(decode=True), part.get_filename(), part.get_content_type()
    return parts


class Studio(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def add_photo(self, text):
        kind = self.headers["Content-Type"] or ""
        if not kind.startswith("multipart/form-data"):
            return self.answer(415, {})
        parts = read_form(kind, text)
        title, _, _ = parts.get("title", (None, None, None))
        content, file_name, file_kind = parts.get("photo", (None, None, None))
        has_file = content is not None and file_name and file_kind == "image/png"
        if title is None or not 1 <= len(title.decode()) <= 20 or not (has_file or FAULT == "file"):
            return self.answer(422, {})
        copies, _, _ = parts.get("copies", (b"2" if FAULT == "default" else b"1", None, None))
        if not re.fullmatch(b"[0-9]+", copies) or not 1 <= int(copies) <= 9:
            return self.answer(422, {})
        copies = 1 if FAULT == "copies" else int(copies)
        photo = {"id": next(numbers), "title": title.decode(), "copies": copies}
        photos[photo["id"]] = photo
        return self.answer(201, photo)

    def change_settings(self, text, is_patch):
        if self.headers["Content-Type"] != "application/json":
            return self.answer(415, {})
        body = json.loads(text)
        needed = [] if is_patch else ["theme", "size"]
        is_right = isinstance(body, dict) and all(name in body for name in needed)
        if not is_right or body.get("theme", "dark") not in ("dark", "light"):
            return self.answer(422, {})
        size = body.get("size", 1)
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= 100:
            return self.answer(422, {})
        shown = {**settings, **body}
        kept = {**body, "theme": settings["theme"]} if FAULT == "theme" else dict(body)
        if FAULT == "patch" and "size" not in body:
            kept["size"] = 20
        settings.update({name: kept[name] for name in ("theme", "size") if name in kept})
        return self.answer(200, {name: shown[name] for name in ("theme", "size")})

    def route(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        found = re.fullmatch("/photos/([0-9]+)(/frame)?", self.path)
        call = self.command, re.sub("[0-9]+", "N", self.path)
        if call == ("POST", "/photos"):
            return self.add_photo(text)
        if call == ("GET", "/settings"):
            return self.answer(200, settings)
        if call in (("PUT", "/settings"), ("PATCH", "/settings")):
            return self.change_settings(text, self.command == "PATCH")
        if not found or int(found[1]) not in photos:
            return self.answer(404, {})
        number = int(found[1])
        if call == ("GET", "/photos/N"):
            return self.answer(200, photos[number])
        place = 0 if FAULT == "frame" else number
        if call == ("GET", "/photos/N/frame"):
            return self.answer(200, {"width": frames.get(place, 0)})
        if call == ("PUT", "/photos/N/frame"):
            if self.headers["Content-Type"] != "application/json":
                return self.answer(415, {})
            body = json.loads(text)
            width = body.get("width") if isinstance(body, dict) else None
            if not isinstance(width, int) or isinstance(width, bool) or not 0 <= width <= 50:
                return self.answer(422, {})
            frames[place] = width
            return self.answer(204)
        return self.answer(405, {})

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = route


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Studio).serve_forever()
