"""Beds with plants, as garden.yaml says: python3 garden.py PORT. Plants are made and listed in a bed, and have paths of
their own; a bed takes its plants with it. GARDEN_FAULT: water, sibling, list.

`water`: watering loses the note. `sibling`: a plant takes another one of its bed with it, if there are three. `list`:
a bed lists plants that were deleted.
"""

import json
import os
import re
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULT = os.environ.get("GARDEN_FAULT", "")
UUID = "([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
beds, plants, pulled = {}, {}, []


def is_text(value, least, most):
    return isinstance(value, str) and least <= len(value) <= most


class Garden(BaseHTTPRequestHandler):
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

    def sent(self):
        size = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(size)
        try:
            body = json.loads(text)
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def route(self):
        body, path = self.sent(), self.path.split("?")[0]
        for pattern, methods in ROUTES:
            found = re.fullmatch(pattern, path)
            if found:
                handler = methods.get(self.command)
                if handler is None:
                    return self.answer(405)
                return handler(self, body, *(part.lower() for part in found.groups()))
        return self.answer(404)

    def list_beds(self, _):
        self.answer(200, list(beds.values()))

    def make_bed(self, body):
        if body is None or not is_text(body.get("name"), 1, 20):
            return self.answer(422)
        bed = {"id": str(uuid.uuid4()), "name": body["name"]}
        beds[bed["id"]] = bed
        return self.answer(201, bed)

    def get_bed(self, _, bed):
        self.answer(200, beds[bed]) if bed in beds else self.answer(404)

    def delete_bed(self, _, bed):
        if bed not in beds:
            return self.answer(404)
        del beds[bed]
        for plant in [plant["id"] for plant in plants.values() if plant["bed"] == bed]:
            del plants[plant]
        return self.answer(204)

    def list_plants(self, _, bed):
        if bed not in beds:
            return self.answer(404)
        gone = pulled if FAULT == "list" else []
        return self.answer(200, [plant for plant in [*plants.values(), *gone] if plant["bed"] == bed])

    def add_plant(self, body, bed):
        if bed not in beds:
            return self.answer(404)
        if body is None or not is_text(body.get("species"), 1, 20) or not is_text(body.get("note", ""), 0, 30):
            return self.answer(422)
        plant = {"id": str(uuid.uuid4()), "bed": bed, "species": body["species"], "watered": 0}
        if "note" in body:
            plant["note"] = body["note"]
        plants[plant["id"]] = plant
        return self.answer(201, plant)

    def get_plant(self, _, plant):
        self.answer(200, plants[plant]) if plant in plants else self.answer(404)

    def delete_plant(self, _, plant):
        if plant not in plants:
            return self.answer(404)
        gone = plants.pop(plant)
        pulled.append(gone)
        others = [other["id"] for other in plants.values() if other["bed"] == gone["bed"]]
        if FAULT == "sibling" and len(others) >= 2:
            del plants[others[0]]
        return self.answer(204)

    def water_plant(self, _, plant):
        if plant not in plants:
            return self.answer(404)
        plants[plant]["watered"] += 1
        if FAULT == "water":
            plants[plant].pop("note", None)
        return self.answer(200, plants[plant])

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = route


ROUTES = [
    ("/beds", {"GET": Garden.list_beds, "POST": Garden.make_bed}),
    (f"/beds/{UUID}", {"GET": Garden.get_bed, "DELETE": Garden.delete_bed}),
    (f"/beds/{UUID}/plants", {"GET": Garden.list_plants, "POST": Garden.add_plant}),
    (f"/plants/{UUID}", {"GET": Garden.get_plant, "DELETE": Garden.delete_plant}),
    (f"/plants/{UUID}/water", {"POST": Garden.water_plant}),
]

if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Garden).serve_forever()
