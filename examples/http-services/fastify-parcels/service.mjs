// Parcels and their tracking events: Fastify, OpenAPI 3.0, an API key, UUIDs chosen by the server and told in
// `Location`, pages with a cursor, an append-only nested collection.
//
// `IOX_FAULT` selects one of the faults below; `SERVICE_LOG` names a file that gets a line for every request.

import { appendFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";

// Dependencies are installed outside of the repository.
const modules = path.join(process.env.HTTP_SERVICES ?? "/tmp/http-services", "node");
const require = createRequire(path.join(modules, "package.json"));
const fastify = require("fastify");
const swagger = require("@fastify/swagger");

const FAULTS = {
  "delete-with-events": "a parcel with events is not deleted, although the answer is 204",
  "weight-kept": "replacing a parcel does not change its weight",
  "stale-list": "the list shows parcels as they were when they were created",
  "first-location": "`Location` of a third parcel names the first",
  "fourth-event": "the fourth event of a parcel is lost",
  "no-location": "a new parcel is announced without `Location`",
  "any-weight": "a weight below the minimum is accepted",
  "price-text": "the price of a heavy parcel is a text",
};
const fault = process.env.IOX_FAULT ?? "";
if (fault && !(fault in FAULTS)) throw new Error(`unknown fault ${fault}`);
const key = process.env.PARCELS_KEY ?? "parcels-secret";
const MAX_PARCELS = 300;

const parcels = new Map();
const snapshots = new Map();
const events = new Map();

const uuid = { type: "string", format: "uuid" };
const address = {
  type: "object",
  required: ["street", "country"],
  additionalProperties: false,
  properties: {
    street: { type: "string", minLength: 1, maxLength: 60 },
    city: { type: "string", maxLength: 40 },
    country: { type: "string", pattern: "^[A-Z]{2}$" },
  },
};
const parcelIn = {
  type: "object",
  required: ["weight", "to"],
  properties: {
    weight: { type: "integer", minimum: 1, maximum: 30000, description: "grams" },
    to: address,
    express: { type: "boolean", default: false },
    note: { type: "string", maxLength: 100 },
  },
};
const parcel = {
  type: "object",
  required: ["id", "weight", "to", "express", "price", "version", "created"],
  properties: {
    id: { ...uuid, readOnly: true },
    ...parcelIn.properties,
    price: { type: "number", minimum: 0, readOnly: true },
    version: { type: "integer", minimum: 1, readOnly: true },
    created: { type: "string", format: "date-time", readOnly: true },
  },
};
const eventIn = {
  type: "object",
  required: ["kind"],
  properties: {
    kind: { type: "string", enum: ["picked up", "in transit", "delivered", "returned"] },
    place: { type: "string", maxLength: 40 },
  },
};
const event = {
  type: "object",
  required: ["number", "kind", "at"],
  properties: {
    number: { type: "integer", minimum: 1 },
    ...eventIn.properties,
    at: { type: "string", format: "date-time" },
  },
};
const problem = {
  type: "object",
  required: ["statusCode", "error", "message"],
  properties: {
    statusCode: { type: "integer" },
    code: { type: "string" },
    error: { type: "string" },
    message: { type: "string" },
  },
};
const problems = (...statuses) =>
  Object.fromEntries(statuses.map((status) => [status, { description: "refused", ...problem }]));
const located = {
  description: "created",
  type: "null",
  headers: { Location: { type: "string", description: "the path of the new resource" } },
};
const empty = { description: "done", type: "null" };
const params = { type: "object", required: ["id"], properties: { id: uuid } };

const app = fastify();
await app.register(swagger, {
  openapi: {
    openapi: "3.0.3",
    info: { title: "Parcels", version: "2.0.1" },
    components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "X-API-Key" } } },
    security: [{ key: [] }],
  },
});

app.addHook("onRequest", async (request, reply) => {
  if (request.url !== "/openapi.json" && request.headers["x-api-key"] !== key) {
    return reply.code(401).send({ statusCode: 401, error: "Unauthorized", message: "missing or wrong X-API-Key" });
  }
});
app.addHook("onResponse", async (request, reply) => {
  const log = process.env.SERVICE_LOG;
  if (log) appendFileSync(log, `${Date.now() / 1000} ${request.method} ${request.url} ${reply.statusCode}\n`);
});

function refuse(reply, status, error, message) {
  return reply.code(status).send({ statusCode: status, error, message });
}

function priceOf({ weight, express }) {
  const price = 2.5 + Math.ceil(weight / 500) * 0.4 + (express ? 6 : 0);
  return Math.round(price * 100) / 100;
}

function show(stored) {
  const price = priceOf(stored);
  return { ...stored, price: fault === "price-text" && stored.weight >= 10000 ? price.toFixed(2) : price };
}

// Faults change what is checked, never the description.
app.addHook("preValidation", async (request) => {
  if (fault === "any-weight" && request.body?.weight < 1) request.body.weight = 1;
});

app.route({
  method: "GET",
  url: "/parcels",
  schema: {
    operationId: "listParcels",
    querystring: {
      type: "object",
      properties: {
        limit: { type: "integer", minimum: 1, maximum: 100, default: 25 },
        after: { ...uuid, description: "the last id of the page before" },
        express: { type: "boolean" },
      },
    },
    response: {
      200: {
        description: "a page of parcels, oldest first",
        type: "object",
        required: ["parcels"],
        properties: { parcels: { type: "array", items: parcel }, next: uuid },
      },
      ...problems(400, 401),
    },
  },
  handler(request, reply) {
    const { limit, after, express } = request.query;
    let found = [...(fault === "stale-list" ? snapshots : parcels).values()];
    const start = after ? found.findIndex(({ id }) => id === after) : -1;
    if (after && start < 0) return refuse(reply, 400, "Bad Request", "unknown cursor");
    found = found.slice(start + 1).filter((one) => express === undefined || one.express === express);
    const page = found.slice(0, limit).map(show);
    if (fault === "price-text") reply.type("application/json; charset=utf-8").serializer(JSON.stringify);
    return reply.send(found.length > limit ? { parcels: page, next: page.at(-1).id } : { parcels: page });
  },
});

app.route({
  method: "POST",
  url: "/parcels",
  schema: {
    operationId: "createParcel",
    body: parcelIn,
    response: { 201: located, ...problems(400, 401, 429) },
  },
  handler(request, reply) {
    if (parcels.size >= MAX_PARCELS) return refuse(reply, 429, "Too Many Requests", "the quota is used up");
    const { weight, to, express, note } = request.body;
    const stored = { id: randomUUID(), weight, to, express, note, version: 1, created: new Date().toISOString() };
    const first = parcels.keys().next().value;
    parcels.set(stored.id, stored);
    snapshots.set(stored.id, { ...stored });
    events.set(stored.id, []);
    const told = fault === "first-location" && parcels.size >= 3 ? first : stored.id;
    if (fault !== "no-location") reply.header("Location", `/parcels/${told}`);
    return reply.code(201).send();
  },
});

app.route({
  method: "GET",
  url: "/parcels/:id",
  schema: {
    operationId: "getParcel",
    params,
    response: { 200: { description: "the parcel", ...parcel }, ...problems(400, 401, 404) },
  },
  handler(request, reply) {
    const stored = parcels.get(request.params.id);
    if (!stored) return refuse(reply, 404, "Not Found", "no such parcel");
    if (fault === "price-text") reply.type("application/json; charset=utf-8").serializer(JSON.stringify);
    return reply.send(show(stored));
  },
});

app.route({
  method: "PUT",
  url: "/parcels/:id",
  schema: {
    operationId: "replaceParcel",
    params,
    body: parcelIn,
    response: { 204: empty, ...problems(400, 401, 404) },
  },
  handler(request, reply) {
    const stored = parcels.get(request.params.id);
    if (!stored) return refuse(reply, 404, "Not Found", "no such parcel");
    const { weight, to, express, note } = request.body;
    if (fault !== "weight-kept") stored.weight = weight;
    Object.assign(stored, { to, express, note, version: stored.version + 1 });
    return reply.code(204).send();
  },
});

app.route({
  method: "DELETE",
  url: "/parcels/:id",
  schema: { operationId: "deleteParcel", params, response: { 204: empty, ...problems(400, 401, 404) } },
  handler(request, reply) {
    const { id } = request.params;
    if (!parcels.has(id)) return refuse(reply, 404, "Not Found", "no such parcel");
    if (fault === "delete-with-events" && events.get(id).length > 0) return reply.code(204).send();
    for (const store of [parcels, snapshots, events]) store.delete(id);
    return reply.code(204).send();
  },
});

app.route({
  method: "GET",
  url: "/parcels/:id/events",
  schema: {
    operationId: "listEvents",
    params,
    response: {
      200: { description: "all events, oldest first", type: "array", items: event },
      ...problems(400, 401, 404),
    },
  },
  handler(request, reply) {
    const found = events.get(request.params.id);
    return found ? reply.send(found) : refuse(reply, 404, "Not Found", "no such parcel");
  },
});

app.route({
  method: "POST",
  url: "/parcels/:id/events",
  schema: {
    operationId: "addEvent",
    params,
    body: eventIn,
    response: { 201: { description: "recorded", ...event }, ...problems(400, 401, 404, 409) },
  },
  handler(request, reply) {
    const found = events.get(request.params.id);
    if (!found) return refuse(reply, 404, "Not Found", "no such parcel");
    if (found.at(-1)?.kind === "delivered") return refuse(reply, 409, "Conflict", "the parcel is delivered");
    const { kind, place } = request.body;
    const added = { number: found.length + 1, kind, place, at: new Date().toISOString() };
    if (fault !== "fourth-event" || found.length !== 3) found.push(added);
    return reply.code(201).send(added);
  },
});

app.get("/openapi.json", { schema: { hide: true } }, () => app.swagger());
await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
