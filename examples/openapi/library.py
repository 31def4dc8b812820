"""A library of books that speaks HTTP, as library.yaml says: python3 library.py PORT [--fault year|twice|newest]

`--fault year`: the year of a book from this century comes back as a text, in lists only. `--fault twice`: a book
that is lent can be lent again. `--fault newest`: a list of three or more books does not have the newest.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

FAULT = sys.argv[3] if len(sys.argv) > 3 else ""
books = {}


def is_year(value):
    return isinstance(value, int) and 1450 <= value <= 2100


def is_text(value, most):
    return isinstance(value, str) and len(value) <= most


def is_book(body):
    if not isinstance(body, dict) or not is_year(body.get("year")):
        return False
    tags = body.get("tags", [])
    has_tags = isinstance(tags, list) and len(tags) <= 2 and all(is_text(tag, 5) for tag in tags)
    return has_tags and is_text(body.get("title"), 20) and body["title"] != ""


class Library(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def body(self):
        try:
            return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
        except ValueError:
            return None

    def route(self):
        url, body = urlsplit(self.path), self.body()
        path, query = url.path.removeprefix("/v1"), parse_qs(url.query)
        if path == "/all" and self.command == "DELETE":
            books.clear()
            return self.answer(204)
        if path == "/books":
            return self.add(body) if self.command == "POST" else self.list(query)
        found = re.fullmatch("/books/(-?[0-9]+)(/loan)?", path)
        book = books.get(int(found[1])) if found else None
        if book is None:
            return self.answer(404, {"reason": "no such book"})
        if not found[2]:
            return self.answer(200, book)
        return self.lend(book, body) if self.command == "POST" else self.take_back(book)

    def add(self, body):
        if not is_book(body):
            return self.answer(400, {"reason": "this is no book"})
        sent = {name: body[name] for name in ("title", "year", "tags") if name in body}
        book = {"id": len(books) + 1, "status": "on shelf", "lent-to": None, **sent}
        books[book["id"]] = book
        self.answer(201, book)

    def list(self, query):
        year = query.get("year")
        if year and not (year[0].isdecimal() and is_year(int(year[0]))):
            return self.answer(400, {"reason": "there are no books of such a year"})
        found = [book for book in books.values() if not year or book["year"] == int(year[0])]
        if FAULT == "newest" and len(found) >= 3:
            found.pop()
        if FAULT == "year":
            found = [{**book, "year": str(book["year"])} if book["year"] > 2000 else book for book in found]
        self.answer(200, found)

    def lend(self, book, body):
        reader = body.get("reader") if isinstance(body, dict) else None
        if not is_text(reader, 8) or not re.fullmatch("[a-z]+", reader):
            return self.answer(400, {"reason": "this is no reader"})
        if book["status"] == "lent" and FAULT != "twice":
            return self.answer(409, {"reason": "it is lent"})
        book.update({"status": "lent", "lent-to": reader})
        self.answer(200, book)

    def take_back(self, book):
        if book["status"] != "lent":
            return self.answer(409, {"reason": "it is here"})
        book.update({"status": "on shelf", "lent-to": None})
        self.answer(204)

    do_GET = do_POST = do_DELETE = route

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Library).serve_forever()
