"""A small shop: articles are put into a basket and paid for. Standard library only.

python3 shop.py PORT [--fault] [--slow MS]
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STOCK = {"tea": 3, "cup": 1}
PRICE = {"tea": 4, "cup": 10}
FAULT = "--fault" in sys.argv
SLOW = int(sys.argv[sys.argv.index("--slow") + 1]) / 1000 if "--slow" in sys.argv else 0

state = {}


def reset():
    state["stock"] = dict(STOCK)
    state["basket"] = []


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer are two writes; the second must not wait for the first.
    disable_nagle_algorithm = True

    def answer(self, status, content=None):
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def content(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return json.loads(text) if text else {}

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200)
        if self.path == "/basket":
            total = sum(PRICE[article] for article in state["basket"])
            return self.answer(200, {"items": len(state["basket"]), "total": total})
        return self.answer(404, {"error": "no such page"})

    def do_POST(self):
        time.sleep(SLOW)
        content = self.content()
        if self.path == "/basket":
            return self.add(content["article"])
        if self.path == "/pay":
            return self.pay(content["amount"])
        return self.answer(404, {"error": "no such page"})

    def do_DELETE(self):
        if self.path == "/all":
            reset()
            return self.answer(204)
        # Takes an article out of the basket: /basket/ARTICLE
        article = self.path.rsplit("/", 1)[-1]
        if article not in state["basket"]:
            return self.answer(404, {"error": "not in the basket"})
        state["basket"].remove(article)
        # The fault: the article does not go back on the shelf.
        if not FAULT:
            state["stock"][article] += 1
        return self.answer(204)

    def add(self, article):
        if state["stock"][article] == 0:
            return self.answer(409, {"error": "sold out"})
        state["stock"][article] -= 1
        state["basket"].append(article)
        return self.answer(201, {"left": state["stock"][article]})

    def pay(self, amount):
        total = sum(PRICE[article] for article in state["basket"])
        if amount < total:
            return self.answer(402, {"error": "too little", "missing": total - amount})
        state["basket"] = []
        return self.answer(200, {"change": amount - total})

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    reset()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
