"""Notes with tags, versions and search: Starlette, OAuth2 with client credentials, the description as a dictionary.

`IOX_FAULT` selects one of the faults below; `SERVICE_LOG` names a file that gets a line for every request.
"""

import os
import re
import sys
import time
import uuid

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

FAULTS = {
    "lost-update": "a note is replaced whatever version the request names",
    "first-restored": "restoring a note brings back its first version",
    "finds-deleted": "a search finds deleted notes",
    "stale-search": "the search looks at the title that a note had at first",
    "tags-stay": "the tags of deleted notes are still counted",
    "no-etag": "the reply to a change lacks the ETag",
    "gone-text": "a note that is gone is answered with plain text",
    "any-limit": "any limit is accepted",
}
FAULT = os.environ.get("IOX_FAULT", "")
if FAULT and FAULT not in FAULTS:
    sys.exit(f"unknown fault {FAULT}")
TOKEN = "notes-token"
CLIENT = os.environ.get("NOTES_CLIENT", "notes"), os.environ.get("NOTES_SECRET", "notes-secret")
COLOURS = ["white", "yellow", "blue"]
MAX_TAGS = 3

notes = {}


class Note:
    def __init__(self, data):
        self.id = str(uuid.uuid4())
        self.data = data
        self.first = data
        self.version = 1
        self.is_deleted = False

    def change(self, data):
        self.data = data
        self.version += 1

    def etag(self):
        return f'"{self.version}"'

    def show(self):
        return {"id": self.id, "version": self.version, **self.data}


class Refused(Exception):
    def __init__(self, status, code, headers=None):
        super().__init__(code)
        self.status, self.code, self.headers = status, code, headers


def refuse(request, error):
    if FAULT == "gone-text" and error.status == 410:
        return PlainTextResponse(error.code, 410)
    return JSONResponse({"code": error.code}, error.status, headers=error.headers)


def refuse_path(request, error):
    return JSONResponse({"code": error.detail}, error.status_code, headers=error.headers)


def check_token(request):
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        raise Refused(401, "unauthorized", {"www-authenticate": "Bearer"})


async def read_json(request):
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise Refused(415, "json_expected")
    try:
        return await request.json()
    except (ValueError, RecursionError):
        raise Refused(400, "no_json") from None


def is_text(value, least, most):
    # Half a character of UTF-16 cannot be sent back.
    is_whole = isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
    return is_whole and least <= len(value) <= most


def is_tag(value):
    return isinstance(value, str) and re.fullmatch("[a-z]{1,10}", value) is not None


def check_tags(tags):
    is_list = isinstance(tags, list) and len(tags) <= MAX_TAGS
    return is_list and all(is_tag(tag) for tag in tags) and len(set(tags)) == len(tags)


CHECKS = {
    "title": lambda value: is_text(value, 1, 60),
    "text": lambda value: is_text(value, 0, 500),
    "colour": lambda value: value in COLOURS,
    "tags": check_tags,
}
DEFAULTS = {"text": "", "colour": "white", "tags": []}


def read_members(body):
    if not isinstance(body, dict):
        raise Refused(400, "no_object")
    for name, value in body.items():
        if name in CHECKS and (isinstance(value, (dict, int, float)) or not CHECKS[name](value)):
            raise Refused(400, f"bad_{name}")
    return {name: value for name, value in body.items() if name in CHECKS}


def read_note(body):
    members = read_members(body)
    if "title" not in members:
        raise Refused(400, "no_title")
    return {**DEFAULTS, **members}


def find_note(request):
    check_token(request)
    try:
        key = str(uuid.UUID(request.path_params["id"]))
    except ValueError:
        raise Refused(400, "no_uuid") from None
    if key not in notes:
        raise Refused(404, "unknown")
    return notes[key]


def find_current(request):
    note = find_note(request)
    if note.is_deleted:
        raise Refused(410, "gone")
    return note


def read_number(request, name, least, most, usual):
    text = request.query_params.get(name)
    if text is None:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 9 and least <= int(text) <= most):
        raise Refused(400, f"bad_{name}")
    return int(text)


def is_found(note, text):
    if FAULT == "stale-search":
        return text in (note.first["title"] + "\n" + note.data["text"]).lower()
    return text in (note.data["title"] + "\n" + note.data["text"]).lower()


async def list_notes(request):
    check_token(request)
    least, most = (0, 10**8) if FAULT == "any-limit" else (1, 50)
    limit = read_number(request, "limit", least, most, 50)
    offset = read_number(request, "offset", 0, 10**6, 0)
    tag, query = request.query_params.get("tag"), request.query_params.get("q")
    if query is not None and not is_text(query, 1, 20):
        raise Refused(400, "bad_q")
    if tag is not None and not is_tag(tag):
        raise Refused(400, "bad_tag")
    is_sought = query is not None or tag is not None
    found = [note for note in notes.values() if not note.is_deleted or (FAULT == "finds-deleted" and is_sought)]
    found = [note for note in found if tag is None or tag in note.data["tags"]]
    found = [note for note in found if query is None or is_found(note, query.lower())]
    page = [note.show() for note in found[offset : offset + limit]]
    return JSONResponse({"items": page, "total": len(found), "offset": offset})


async def add_note(request):
    check_token(request)
    note = Note(read_note(await read_json(request)))
    notes[note.id] = note
    headers = {"etag": note.etag(), "location": f"/notes/{note.id}"}
    return JSONResponse(note.show(), 201, headers=headers)


async def get_note(request):
    note = find_current(request)
    return JSONResponse(note.show(), headers={"etag": note.etag()})


def changed(note):
    headers = {} if FAULT == "no-etag" else {"etag": note.etag()}
    return JSONResponse(note.show(), headers=headers)


async def replace_note(request):
    note = find_current(request)
    data = read_note(await read_json(request))
    version = request.headers.get("if-match")
    if version is None:
        raise Refused(428, "version_expected")
    if version != note.etag() and FAULT != "lost-update":
        raise Refused(412, "other_version")
    note.change(data)
    return changed(note)


async def change_note(request):
    note = find_current(request)
    members = read_members(await read_json(request))
    note.change({**note.data, **members})
    return changed(note)


async def delete_note(request):
    find_current(request).is_deleted = True
    return Response(status_code=204)


async def restore_note(request):
    note = find_note(request)
    if not note.is_deleted:
        raise Refused(409, "not_deleted")
    note.is_deleted = False
    if FAULT == "first-restored":
        note.data = note.first
    return changed(note)


async def list_tags(request):
    check_token(request)
    counts = {}
    for note in notes.values():
        for tag in note.data["tags"] if FAULT == "tags-stay" or not note.is_deleted else []:
            counts[tag] = counts.get(tag, 0) + 1
    return JSONResponse([{"tag": tag, "notes": count} for tag, count in sorted(counts.items())])


async def give_token(request):
    form = await request.form()
    if form.get("grant_type") != "client_credentials":
        return JSONResponse({"error": "unsupported_grant_type"}, 400)
    if (form.get("client_id"), form.get("client_secret")) != CLIENT:
        return JSONResponse({"error": "invalid_client"}, 401)
    return JSONResponse({"access_token": TOKEN, "token_type": "bearer", "expires_in": 3600})


def reference(name):
    return {"$ref": f"#/components/schemas/{name}"}


def content(schema):
    return {"application/json": {"schema": schema}}


def answers(*statuses, success=None, schema=None, headers=()):
    """Returns the answers of an operation: the success with its schema and headers, then refusals."""
    answer = {"description": "done"}
    if schema:
        answer["content"] = content(schema)
    if headers:
        answer["headers"] = {name: {"required": True, "schema": {"type": "string"}} for name in headers}
    refusal = {"description": "refused", "content": content(reference("Refusal"))}
    return {str(success): answer, **{str(status): refusal for status in statuses}}


def query(name, schema):
    return {"name": name, "in": "query", "schema": schema}


ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
IF_MATCH = {"name": "If-Match", "in": "header", "schema": {"type": "string", "pattern": '^"[0-9]{1,4}"$'}}
TAGS = {"type": "array", "maxItems": MAX_TAGS, "uniqueItems": True,
        "items": {"type": "string", "minLength": 1, "maxLength": 10, "pattern": "^[a-z]+$"}}
MEMBERS = {
    "title": {"type": "string", "minLength": 1, "maxLength": 60},
    "text": {"type": "string", "maxLength": 500, "default": ""},
    "colour": {"type": "string", "enum": COLOURS, "default": "white"},
    "tags": {**TAGS, "default": []},
}
CHANGES = {name: {key: value for key, value in schema.items() if key != "default"} for name, schema in MEMBERS.items()}
SHOWN = {
    "id": {"type": "string", "format": "uuid", "readOnly": True},
    "version": {"type": "integer", "minimum": 1, "readOnly": True},
}
NOTE = reference("Note")
BODY = {"required": True, "content": content(reference("NoteData"))}
CHANGE = {"required": True, "content": content(reference("NoteChange"))}
PAGE = {
    "type": "object", "required": ["items", "total", "offset"],
    "properties": {"items": {"type": "array", "items": NOTE}, "total": {"type": "integer", "minimum": 0},
                   "offset": {"type": "integer", "minimum": 0}},
}
COUNTS = {"type": "array", "items": {
    "type": "object", "required": ["tag", "notes"],
    "properties": {"tag": {"type": "string"}, "notes": {"type": "integer", "minimum": 1}}}}

DESCRIPTION = {
    "openapi": "3.0.3",
    "info": {"title": "Notes", "version": "1"},
    "security": [{"client": []}],
    "paths": {
        "/notes": {
            "get": {
                "operationId": "list_notes",
                "parameters": [
                    query("q", {"type": "string", "minLength": 1, "maxLength": 20}),
                    query("tag", {"type": "string", "pattern": "^[a-z]+$", "maxLength": 10}),
                    query("limit", {"type": "integer", "minimum": 1, "maximum": 50, "default": 50}),
                    query("offset", {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0}),
                ],
                "responses": answers(400, 401, success=200, schema=PAGE),
            },
            "post": {
                "operationId": "add_note", "requestBody": BODY,
                "responses": answers(400, 401, 415, success=201, schema=NOTE, headers=["ETag", "Location"]),
            },
        },
        "/notes/{id}": {
            "parameters": [ID],
            "get": {
                "operationId": "get_note",
                "responses": answers(400, 401, 404, 410, success=200, schema=NOTE, headers=["ETag"]),
            },
            "put": {
                "operationId": "replace_note", "parameters": [IF_MATCH], "requestBody": BODY,
                "responses": answers(400, 401, 404, 410, 412, 415, 428, success=200, schema=NOTE, headers=["ETag"]),
            },
            "patch": {
                "operationId": "change_note", "requestBody": CHANGE,
                "responses": answers(400, 401, 404, 410, 415, success=200, schema=NOTE, headers=["ETag"]),
            },
            "delete": {"operationId": "delete_note", "responses": answers(400, 401, 404, 410, success=204)},
        },
        "/notes/{id}/restore": {
            "parameters": [ID],
            "post": {
                "operationId": "restore_note",
                "responses": answers(400, 401, 404, 409, success=200, schema=NOTE, headers=["ETag"]),
            },
        },
        "/tags": {"get": {"operationId": "list_tags", "responses": answers(401, success=200, schema=COUNTS)}},
    },
    "components": {
        "securitySchemes": {"client": {
            "type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}}},
        "schemas": {
            "NoteData": {"type": "object", "required": ["title"], "properties": MEMBERS},
            "NoteChange": {"type": "object", "properties": CHANGES},
            "Note": {"type": "object", "required": [*SHOWN, *MEMBERS], "properties": {**SHOWN, **CHANGES}},
            "Refusal": {"type": "object", "required": ["code"], "properties": {"code": {"type": "string"}}},
        },
    },
}


async def show_description(request):
    return JSONResponse(DESCRIPTION)


class Logged:
    """Writes a line for every request."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def send_logged(message):
            if message["type"] == "http.response.start" and os.environ.get("SERVICE_LOG"):
                with open(os.environ["SERVICE_LOG"], "a", encoding="utf-8") as log:
                    log.write(f"{time.time()} {scope['method']} {scope['path']} {message['status']}\n")
            await send(message)

        await self.app(scope, receive, send_logged if scope["type"] == "http" else send)


app = Starlette(
    routes=[
        Route("/schema", show_description),
        Route("/token", give_token, methods=["POST"]),
        Route("/notes", list_notes, methods=["GET"]),
        Route("/notes", add_note, methods=["POST"]),
        Route("/notes/{id}", get_note, methods=["GET"]),
        Route("/notes/{id}", replace_note, methods=["PUT"]),
        Route("/notes/{id}", change_note, methods=["PATCH"]),
        Route("/notes/{id}", delete_note, methods=["DELETE"]),
        Route("/notes/{id}/restore", restore_note, methods=["POST"]),
        Route("/tags", list_tags),
    ],
    exception_handlers={Refused: refuse, HTTPException: refuse_path},
)

if __name__ == "__main__":
    uvicorn.run(Logged(app), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
