"""A mock of a travel service, generated from `openapi.yaml`: it checks requests, answers with examples, stores nothing.

`IOX_FAULT` selects one of the faults in `FAULTS`; `SERVICE_LOG` names a file that gets a line for every request.
"""

import http.server
import json
import os
import pathlib
import re
import sys
import time
import urllib.parse

import jsonschema
import yaml

FAULTS = {
    "list-after-cancel": "once a trip has been cancelled, the list fails with status 500",
    "mixed-up": "after an airport was read, the next trip that is read is an airport",
    "countdown": "every added leg lowers seats_left, even below zero",
    "lenient": "after two refused requests, the next invalid request is accepted",
    "archived": "once a trip has been changed, trips that are read have a status that does not exist",
    "plain": "an airport is sent as text/plain",
    "no-currency": "a list with a limit has trips without their currency",
    "open": "no key is needed",
}
FAULT = os.environ.get("IOX_FAULT", "")
KEY = os.environ.get("TRAVEL_KEY", "travel-secret")
SOURCE = pathlib.Path(__file__).with_name("openapi.yaml").read_text()
DESCRIPTION = yaml.safe_load(SOURCE)
METHODS = ("get", "post", "put", "patch", "delete")
seen = {"cancelled": False, "airport": False, "legs": 0, "refused": 0, "changed": False}


def resolve(node):
    """Follows a reference."""
    while isinstance(node, dict) and "$ref" in node:
        target = DESCRIPTION
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def for_requests(schema):
    """Returns a schema for jsonschema: references resolved, `nullable` translated, read-only members not required."""
    schema = dict(resolve(schema))
    schema.pop("discriminator", None)
    if schema.get("exclusiveMinimum") is True:
        schema["exclusiveMinimum"] = schema.pop("minimum")
    if schema.get("format") == "int64":
        schema.setdefault("maximum", 2**63 - 1)
    if "items" in schema:
        schema["items"] = for_requests(schema["items"])
    if "oneOf" in schema:
        schema["oneOf"] = [for_requests(one) for one in schema["oneOf"]]
    if "properties" in schema:
        members = {name: for_requests(member) for name, member in schema["properties"].items()}
        schema["properties"] = members
        schema["required"] = [name for name in schema.get("required", []) if not members[name].get("readOnly")]
    if schema.pop("nullable", False):
        return {"anyOf": [schema, {"type": "null"}]}
    return schema


def example(schema):
    """Returns a value that fits the schema."""
    schema = resolve(schema)
    if "example" in schema or "default" in schema:
        return schema.get("example", schema.get("default"))
    if "enum" in schema:
        return schema["enum"][0]
    if "oneOf" in schema:
        return example(schema["oneOf"][0])
    kind = schema.get("type")
    if kind == "object":
        members = schema.get("properties", {}).items()
        return {name: example(member) for name, member in members if not resolve(member).get("writeOnly")}
    if kind == "array":
        return [example(schema["items"])]
    return {"string": "text", "integer": schema.get("minimum", 0), "number": 0.5, "boolean": True}[kind]


def find_route(path):
    """Returns the item of the description for a path, and the values of its parameters."""
    for template, item in DESCRIPTION["paths"].items():
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template)
        if match := re.fullmatch(pattern, path):
            return item, {name: urllib.parse.unquote(value) for name, value in match.groupdict().items()}
    return None, {}


def parse(text, schema):
    """Returns the value of a parameter; a text that is not a number stays a text and fails the check."""
    if schema.get("type") == "integer" and re.fullmatch(r"[+-]?\d{1,30}", text):
        return int(text)
    return text


class Mock(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of a reply in one packet: two would wait for an acknowledgement between them.
    wbufsize = -1

    def log_message(self, *_):
        pass

    def reply(self, status, body=None, content_type="application/json", headers=()):
        data = b"" if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", content_type)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        if log := os.environ.get("SERVICE_LOG"):
            with open(log, "a") as file:
                file.write(f"{time.time():.3f} {self.command} {self.path} {status}\n")

    def refuse(self, status, title, detail="", headers=()):
        problem = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        self.reply(status, problem, "application/json", headers)

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def check(self, item, operation, values, query, data):
        """Returns the first reason why the request is invalid."""
        for parameter in map(resolve, item.get("parameters", []) + operation.get("parameters", [])):
            schema = for_requests(parameter["schema"])
            given = values.get(parameter["name"]) if parameter["in"] == "path" else query.get(parameter["name"])
            if given is None:
                continue
            if error := next(jsonschema.Draft7Validator(schema).iter_errors(parse(given, schema)), None):
                return f"{parameter['name']}: {error.message}"
        if "requestBody" not in operation:
            return None
        if self.headers.get_content_type() != "application/json":
            return "the body must be application/json"
        try:
            body = json.loads(data)
        except ValueError as error:
            return f"the body is not JSON: {error}"
        schema = for_requests(resolve(operation["requestBody"])["content"]["application/json"]["schema"])
        error = next(jsonschema.Draft7Validator(schema).iter_errors(body), None)
        return f"body: {error.message}" if error else None

    def handle_request(self):
        data = self.read_body()
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        if url.path == "/openapi.yaml":
            return self.reply(200, SOURCE, "application/yaml")
        item, values = find_route(url.path)
        if item is None:
            return self.refuse(404, "no such path")
        operation = item.get(self.command.lower())
        if operation is None:
            allowed = ", ".join(method.upper() for method in METHODS if method in item)
            return self.refuse(405, "method not allowed", headers=[("Allow", allowed)])
        if query.get("api_key") != KEY and FAULT != "open":
            return self.refuse(401, "the key is missing or wrong")
        if reason := self.check(item, operation, values, query, data):
            seen["refused"] += 1
            if FAULT != "lenient" or seen["refused"] <= 2:
                return self.refuse(422, "the request is invalid", reason)
            seen["refused"] = 0
        return self.answer(operation, query)

    def answer(self, operation, query):
        name = operation["operationId"]
        status, response = next((int(code), resolve(one)) for code, one in operation["responses"].items())
        body = None
        if "content" in response:
            body = example(response["content"]["application/json"]["schema"])
        if FAULT == "mixed-up" and name == "getTrip" and seen["airport"]:
            body = example({"$ref": "#/components/schemas/Airport"})
        if FAULT == "countdown" and name == "addLeg":
            body["seats_left"] -= seen["legs"]
        if FAULT == "archived" and name == "getTrip" and seen["changed"]:
            body["status"] = "archived"
        if FAULT == "no-currency" and name == "listTrips" and "limit" in query:
            del body[0]["currency"]
        if FAULT == "list-after-cancel" and name == "listTrips" and seen["cancelled"]:
            return self.refuse(500, "internal error")
        seen["cancelled"] |= name == "cancelTrip"
        seen["changed"] |= name == "changeTrip"
        seen["legs"] += name == "addLeg"
        seen["airport"] = name == "getAirport"
        plain = FAULT == "plain" and name == "getAirport"
        return self.reply(status, body, "text/plain" if plain else "application/json")

    def __getattr__(self, name):
        # The server looks for `do_METHOD`; unknown methods are refused like others.
        if name.startswith("do_"):
            return self.handle_request
        raise AttributeError(name)


if __name__ == "__main__":
    if FAULT and FAULT not in FAULTS:
        sys.exit(f"unknown fault {FAULT}: one of {', '.join(FAULTS)}")
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Mock).serve_forever()
