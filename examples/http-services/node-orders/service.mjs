// Orders and the bins that they are taken from: Node without a framework, OpenAPI 3.1 written by hand.
//
// `IOX_FAULT` selects one of the faults below; `SERVICE_LOG` names a file that gets a line for every request.

import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const FAULTS = {
  "ships-drafts": "an order can be shipped that was not confirmed",
  "keeps-stock": "cancelling a confirmed order does not put its units back into the bin",
  "one-name": "changing a bin changes the bin of the same name in the warehouse that was made first",
  orphans: "the bins of a deleted warehouse are there again when a warehouse with its code is made",
  "late-change": "a confirmed order can still be changed",
  "any-units": "a bin may have fewer than no units",
  "no-title": "the reply 409 lacks its title",
  "two-hundred": "a new order is answered with 200",
};
const fault = process.env.IOX_FAULT ?? "";
if (fault && !(fault in FAULTS)) throw new Error(`unknown fault ${fault}`);
const description = readFileSync(new URL("openapi.yaml", import.meta.url));

const warehouses = new Map();
// The key of a bin is CODE/NAME: neither has a slash.
const bins = new Map();
const orders = new Map();
let lastOrder = 1000;

class Refusal extends Error {
  constructor(status, title) {
    super(title);
    this.status = status;
  }
}

const CODE = /^[A-Z]{2}[0-9]{1,2}$/;
const NAME = /^[a-z][a-z0-9]{0,5}$/;
const isInteger = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;
const isText = (value, most) => typeof value === "string" && value.isWellFormed() && [...value].length <= most;

function check(isValid, title) {
  if (!isValid) throw new Refusal(422, title);
}

function checkObject(body, allowed) {
  check(body !== null && typeof body === "object" && !Array.isArray(body), "an object is expected");
  const other = Object.keys(body).find((name) => !allowed.includes(name));
  check(other === undefined, `${other} is not known`);
}

function find(map, key, what) {
  const found = map.get(key);
  if (found === undefined) throw new Refusal(404, `no such ${what}`);
  return found;
}

function putWarehouse(code, body) {
  check(CODE.test(code), "a code is two letters and a number");
  checkObject(body, ["city", "cooled"]);
  check(isText(body.city, 40) && body.city.length > 0, "city");
  check(body.cooled === undefined || typeof body.cooled === "boolean", "cooled");
  const isNew = !warehouses.has(code);
  const warehouse = { code, city: body.city, cooled: body.cooled ?? false };
  warehouses.set(code, warehouse);
  return [isNew ? 201 : 200, warehouse];
}

function deleteWarehouse(code) {
  find(warehouses, code, "warehouse");
  const isNeeded = [...orders.values()].some((order) => order.warehouse === code && order.status === "confirmed");
  if (isNeeded) throw new Refusal(409, "confirmed orders need the warehouse");
  warehouses.delete(code);
  if (fault === "orphans") return [204];
  for (const key of [...bins.keys()].filter((one) => one.startsWith(`${code}/`))) bins.delete(key);
  return [204];
}

function binsOf(code) {
  return [...bins.values()].filter((bin) => bin.warehouse === code);
}

function putBin(code, name, body) {
  find(warehouses, code, "warehouse");
  check(NAME.test(name), "a name is a letter and at most five letters or digits");
  checkObject(body, ["units", "label"]);
  check(isInteger(body.units, fault === "any-units" ? -1e9 : 0, 500), "units");
  check(body.label === undefined || body.label === null || isText(body.label, 20), "label");
  let key = `${code}/${name}`;
  const isNew = !bins.has(key);
  if (fault === "one-name" && !isNew) key = [...bins.keys()].find((one) => one.endsWith(`/${name}`));
  const bin = { warehouse: key.split("/")[0], name, units: body.units, label: body.label ?? null };
  bins.set(key, bin);
  return [isNew ? 201 : 200, { ...bin, warehouse: code }];
}

function deleteBin(code, name) {
  find(bins, `${code}/${name}`, "bin");
  bins.delete(`${code}/${name}`);
  return [204];
}

function readOrder(body, old) {
  checkObject(body, ["customer", "units", "warehouse", "bin", "note"]);
  const order = { note: null, ...old, ...body };
  check(isText(order.customer, 30) && order.customer.length > 0, "customer");
  check(isInteger(order.units, 1, 50), "units");
  check(CODE.test(order.warehouse), "warehouse");
  check(NAME.test(order.bin), "bin");
  check(order.note === null || isText(order.note, 100), "note");
  return order;
}

function addOrder(body) {
  for (const name of ["customer", "units", "warehouse", "bin"]) check(body?.[name] !== undefined, `${name} is missing`);
  lastOrder += 1;
  const order = { number: lastOrder, status: "draft", ...readOrder(body, {}) };
  orders.set(lastOrder, order);
  return [fault === "two-hundred" ? 200 : 201, order, { location: `/api/orders/${lastOrder}` }];
}

function findOrder(text) {
  check(/^\d{1,12}$/.test(text), "a number is expected");
  return find(orders, Number(text), "order");
}

function changeOrder(text, body) {
  const order = findOrder(text);
  const changed = readOrder(body, order);
  if (order.status !== "draft" && !(fault === "late-change" && order.status === "confirmed")) {
    throw new Refusal(409, "only drafts can be changed");
  }
  return [200, Object.assign(order, changed)];
}

function deleteOrder(text) {
  const order = findOrder(text);
  if (order.status !== "draft") throw new Refusal(409, "only drafts can be deleted");
  orders.delete(order.number);
  return [204];
}

const MOVES = {
  confirm(order) {
    if (order.status !== "draft") throw new Refusal(409, "only drafts can be confirmed");
    const bin = bins.get(`${order.warehouse}/${order.bin}`);
    if (bin === undefined || bin.units < order.units) throw new Refusal(409, "not enough units in the bin");
    bin.units -= order.units;
    order.status = "confirmed";
  },
  ship(order) {
    const isReady = order.status === "confirmed" || (fault === "ships-drafts" && order.status === "draft");
    if (!isReady) throw new Refusal(409, "only confirmed orders can be shipped");
    order.status = "shipped";
  },
  cancel(order) {
    if (!["draft", "confirmed"].includes(order.status)) throw new Refusal(409, "it is too late");
    const bin = bins.get(`${order.warehouse}/${order.bin}`);
    if (order.status === "confirmed" && bin && fault !== "keeps-stock") bin.units += order.units;
    order.status = "cancelled";
  },
};

function listOrders(query) {
  const [status, customer] = [query.get("status"), query.get("customer")];
  check(status === null || ["draft", "confirmed", "shipped", "cancelled"].includes(status), "status");
  const found = [...orders.values()].filter(
    (order) => (status === null || order.status === status) && (customer === null || order.customer === customer),
  );
  return [200, { orders: found, count: found.length }];
}

const PATHS = [
  [/^\/warehouses$/, { GET: () => [200, [...warehouses.values()]] }],
  [
    /^\/warehouses\/([^/]+)$/,
    {
      GET: (code) => [200, find(warehouses, code, "warehouse")],
      PUT: (code, { body }) => putWarehouse(code, body),
      DELETE: (code) => deleteWarehouse(code),
    },
  ],
  [
    /^\/warehouses\/([^/]+)\/bins$/,
    { GET: (code) => [200, find(warehouses, code, "warehouse") && binsOf(code)] },
  ],
  [
    /^\/warehouses\/([^/]+)\/bins\/([^/]+)$/,
    {
      GET: (code, name) => [200, find(bins, `${find(warehouses, code, "warehouse").code}/${name}`, "bin")],
      PUT: (code, name, { body }) => putBin(code, name, body),
      DELETE: (code, name) => deleteBin(find(warehouses, code, "warehouse").code, name),
    },
  ],
  [/^\/orders$/, { GET: ({ query }) => listOrders(query), POST: ({ body }) => addOrder(body) }],
  [
    /^\/orders\/([^/]+)$/,
    {
      GET: (text) => [200, findOrder(text)],
      PATCH: (text, { body }) => changeOrder(text, body),
      DELETE: (text) => deleteOrder(text),
    },
  ],
  [
    /^\/orders\/([^/]+)\/(confirm|ship|cancel)$/,
    {
      POST(text, move) {
        const order = findOrder(text);
        MOVES[move](order);
        return [200, order];
      },
    },
  ],
];

function answer(method, url, text, type) {
  for (const [pattern, methods] of PATHS) {
    const match = pattern.exec(url.pathname.slice("/api".length));
    if (!match) continue;
    if (!methods[method]) return [405, { title: "no such method" }, { allow: Object.keys(methods).join(", ") }];
    let body;
    if (method === "PUT" || method === "PATCH" || (method === "POST" && match.length < 3)) {
      if (type.split(";")[0].trim() !== "application/json") throw new Refusal(415, "JSON is expected");
      try {
        body = JSON.parse(text);
      } catch {
        throw new Refusal(422, "the body is no JSON");
      }
    }
    return methods[method](...match.slice(1).map(decodeURIComponent), { query: url.searchParams, body });
  }
  throw new Refusal(404, "no such path");
}

function respond(request, response, text) {
  const url = new URL(request.url, "http://localhost");
  let [status, body, headers] = [200, description, { "content-type": "application/yaml" }];
  if (url.pathname !== "/api/openapi.yaml") {
    try {
      [status, body, headers] = answer(request.method, url, text, request.headers["content-type"] ?? "");
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof URIError)) throw error;
      status = error.status ?? 404;
      body = { status, title: error.message };
      if (fault === "no-title" && status === 409) delete body.title;
    }
    const type = status >= 400 ? "application/problem+json" : "application/json";
    headers = { ...headers, ...(body === undefined ? {} : { "content-type": type }) };
    body = body === undefined ? undefined : JSON.stringify(body);
  }
  response.writeHead(status, headers).end(body);
  const line = `${Date.now() / 1000} ${request.method} ${url.pathname} ${status}\n`;
  if (process.env.SERVICE_LOG) appendFileSync(process.env.SERVICE_LOG, line);
}

createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => respond(request, response, Buffer.concat(chunks).toString()));
}).listen(Number(process.argv[2]), "127.0.0.1");
