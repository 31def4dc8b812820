// Rooms and their bookings: Express, OpenAPI 3.0 in comments, a session cookie, replies in envelopes.
//
// `IOX_FAULT` selects one of the faults below; `SERVICE_LOG` names a file that gets a line for every request.

"use strict";

const { appendFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const path = require("node:path");

// Dependencies are installed outside of the repository.
const modules = path.join(process.env.HTTP_SERVICES ?? "/tmp/http-services", "node");
const requireModule = createRequire(path.join(modules, "package.json"));
const express = requireModule("express");
const swaggerJsdoc = requireModule("swagger-jsdoc");

const FAULTS = {
  overlap: "a booking that begins together with another one is accepted",
  "cancelled-listed": "a cancelled booking is still listed",
  "features-reset": "changing only the capacity of a room removes its features",
  neighbour: "after a room was deleted, the rooms created after it are mistaken for their neighbours",
  "count-grows": "cancelling a booking does not lower the booking count of the room",
  "no-features": "changing the features of a room to an empty list causes a 500",
  "capacity-text": "the list has capacities as texts",
  "html-404": "a booking that does not exist is reported as HTML",
};
const fault = process.env.IOX_FAULT ?? "";
if (fault && !(fault in FAULTS)) throw new Error(`unknown fault ${fault}`);
const session = process.env.ROOMS_SESSION ?? "rooms-session";
const MAX_ROOMS = 80;

let rooms = [];
let bookings = [];
const cancelled = [];
let lastRoom = 0;
let lastBooking = 0;

const app = express();
app.disable("x-powered-by");
app.use((request, response, next) => {
  response.on("finish", () => {
    const log = process.env.SERVICE_LOG;
    const line = `${Date.now() / 1000} ${request.method} ${request.path} ${response.statusCode}\n`;
    if (log) appendFileSync(log, line);
  });
  next();
});

function fail(response, status, code, message) {
  response.status(status).json({ error: { code, message } });
}

/**
 * @openapi
 * components:
 *   securitySchemes:
 *     session: { type: apiKey, in: cookie, name: sid }
 *   parameters:
 *     roomId: { name: roomId, in: path, required: true, schema: { type: string } }
 *   responses:
 *     Error:
 *       description: refused
 *       content:
 *         application/json:
 *           schema: { $ref: '#/components/schemas/Error' }
 *     Room:
 *       description: the room
 *       content:
 *         application/json:
 *           schema:
 *             type: object
 *             required: [data]
 *             properties:
 *               data: { $ref: '#/components/schemas/Room' }
 *   schemas:
 *     Error:
 *       type: object
 *       required: [error]
 *       properties:
 *         error:
 *           type: object
 *           required: [code, message]
 *           properties:
 *             code: { type: string, enum: [invalid, unauthorized, not_found, conflict, quota] }
 *             message: { type: string }
 *     RoomInput:
 *       type: object
 *       required: [name, capacity]
 *       properties:
 *         name: { type: string, minLength: 2, maxLength: 30 }
 *         capacity: { type: integer, minimum: 1, maximum: 500 }
 *         features: { $ref: '#/components/schemas/Features' }
 *         floor: { type: integer, minimum: -3, maximum: 40, nullable: true }
 *     RoomChange:
 *       type: object
 *       properties:
 *         name: { type: string, minLength: 2, maxLength: 30 }
 *         capacity: { type: integer, minimum: 1, maximum: 500 }
 *         features: { $ref: '#/components/schemas/Features' }
 *         floor: { type: integer, minimum: -3, maximum: 40, nullable: true }
 *     Features:
 *       type: array
 *       uniqueItems: true
 *       maxItems: 4
 *       items: { type: string, enum: [screen, whiteboard, phone, window] }
 *     Room:
 *       allOf:
 *         - $ref: '#/components/schemas/RoomInput'
 *         - type: object
 *           required: [id, features, bookingCount, createdAt]
 *           properties:
 *             id: { type: string, readOnly: true }
 *             bookingCount: { type: integer, minimum: 0, readOnly: true }
 *             createdAt: { type: string, format: date-time, readOnly: true }
 *     BookingInput:
 *       type: object
 *       required: [from, hours]
 *       properties:
 *         from: { type: integer, minimum: 0, maximum: 23, description: the hour of the day }
 *         hours: { type: integer, minimum: 1, maximum: 8 }
 *         title: { type: string, maxLength: 50, default: '' }
 *     Booking:
 *       type: object
 *       required: [id, roomId, from, hours, title]
 *       properties:
 *         id: { type: integer }
 *         roomId: { type: string }
 *         from: { type: integer }
 *         hours: { type: integer }
 *         title: { type: string }
 */
const description = swaggerJsdoc({
  definition: {
    openapi: "3.0.0",
    info: { title: "Rooms", version: "1.0.0" },
    servers: [{ url: "/v1" }],
    security: [{ session: [] }],
  },
  apis: [__filename],
});
app.get("/v1/docs.json", (request, response) => response.json(description));

const v1 = express.Router();
app.use("/v1", v1);
v1.use((request, response, next) => {
  const cookies = (request.headers.cookie ?? "").split(/;\s*/);
  if (cookies.includes(`sid=${session}`)) return next();
  return fail(response, 401, "unauthorized", "log in first");
});
v1.use(express.json({ strict: false }));
v1.use((error, request, response, next) => fail(response, 400, "invalid", error.message));

function isInteger(value, least, most) {
  return Number.isInteger(value) && value >= least && value <= most;
}

const ROOM_RULES = {
  name: (value) => typeof value === "string" && [...value].length >= 2 && [...value].length <= 30,
  capacity: (value) => isInteger(value, 1, 500),
  features: (value) =>
    Array.isArray(value) &&
    value.length <= 4 &&
    new Set(value).size === value.length &&
    value.every((one) => ["screen", "whiteboard", "phone", "window"].includes(one)),
  floor: (value) => value === null || isInteger(value, -3, 40),
};

const BOOKING_RULES = {
  from: (value) => isInteger(value, 0, 23),
  hours: (value) => isInteger(value, 1, 8),
  title: (value) => typeof value === "string" && [...value].length <= 50,
};

// Returns the members that the rules name, or the name of the first that is wrong.
function pick(body, rules, required) {
  if (body === null || typeof body !== "object" || Array.isArray(body)) return { wrong: "body" };
  const picked = {};
  for (const [name, isValid] of Object.entries(rules)) {
    if (body[name] === undefined) {
      if (required.includes(name)) return { wrong: name };
    } else if (!isValid(body[name])) {
      return { wrong: name };
    } else {
      picked[name] = body[name];
    }
  }
  return { picked };
}

function show(room) {
  const count = bookings.filter((booking) => booking.roomId === room.id).length;
  const gone = fault === "count-grows" ? cancelled.filter((booking) => booking.roomId === room.id).length : 0;
  return { ...room, bookingCount: count + gone };
}

let firstMistaken = Infinity;

function findRoom(request, response) {
  let index = rooms.findIndex((room) => room.id === request.params.roomId);
  if (index < 0) {
    fail(response, 404, "not_found", "no such room");
    return undefined;
  }
  if (fault === "neighbour" && index >= firstMistaken && index + 1 < rooms.length) index += 1;
  return rooms[index];
}

/**
 * @openapi
 * /rooms:
 *   get:
 *     operationId: listRooms
 *     parameters:
 *       - { name: minCapacity, in: query, schema: { type: integer, minimum: 1, maximum: 500 } }
 *     responses:
 *       200:
 *         description: all rooms
 *         content:
 *           application/json:
 *             schema:
 *               type: object
 *               required: [data, meta]
 *               properties:
 *                 data: { type: array, items: { $ref: '#/components/schemas/Room' } }
 *                 meta:
 *                   type: object
 *                   required: [total]
 *                   properties:
 *                     total: { type: integer, minimum: 0 }
 *       400: { $ref: '#/components/responses/Error' }
 *       401: { $ref: '#/components/responses/Error' }
 *   post:
 *     operationId: createRoom
 *     requestBody:
 *       required: true
 *       content:
 *         application/json:
 *           schema: { $ref: '#/components/schemas/RoomInput' }
 *     responses:
 *       201: { $ref: '#/components/responses/Room' }
 *       400: { $ref: '#/components/responses/Error' }
 *       401: { $ref: '#/components/responses/Error' }
 *       402: { $ref: '#/components/responses/Error' }
 */
v1.get("/rooms", (request, response) => {
  const text = request.query.minCapacity;
  if (text !== undefined && !(/^\d{1,9}$/.test(text) && isInteger(Number(text), 1, 500))) {
    return fail(response, 400, "invalid", "minCapacity must be a number from 1 to 500");
  }
  const found = rooms.filter((room) => room.capacity >= Number(text ?? 0)).map(show);
  const data = fault === "capacity-text" ? found.map((one) => ({ ...one, capacity: `${one.capacity}` })) : found;
  return response.json({ data, meta: { total: rooms.length } });
});

v1.post("/rooms", (request, response) => {
  const { picked, wrong } = pick(request.body, ROOM_RULES, ["name", "capacity"]);
  if (wrong) return fail(response, 400, "invalid", `${wrong} is missing or invalid`);
  if (rooms.length >= MAX_ROOMS) return fail(response, 402, "quota", "the plan has no more rooms");
  lastRoom += 1;
  const room = { id: `r${lastRoom.toString(36)}`, features: [], createdAt: new Date().toISOString(), ...picked };
  rooms.push(room);
  return response.status(201).json({ data: show(room) });
});

/**
 * @openapi
 * /rooms/{roomId}:
 *   parameters:
 *     - $ref: '#/components/parameters/roomId'
 *   get:
 *     operationId: getRoom
 *     responses:
 *       200: { $ref: '#/components/responses/Room' }
 *       401: { $ref: '#/components/responses/Error' }
 *       404: { $ref: '#/components/responses/Error' }
 *   patch:
 *     operationId: changeRoom
 *     requestBody:
 *       required: true
 *       content:
 *         application/json:
 *           schema: { $ref: '#/components/schemas/RoomChange' }
 *     responses:
 *       200: { $ref: '#/components/responses/Room' }
 *       400: { $ref: '#/components/responses/Error' }
 *       401: { $ref: '#/components/responses/Error' }
 *       404: { $ref: '#/components/responses/Error' }
 *   delete:
 *     operationId: deleteRoom
 *     description: Deletes a room without bookings
 *     responses:
 *       204: { description: deleted }
 *       401: { $ref: '#/components/responses/Error' }
 *       404: { $ref: '#/components/responses/Error' }
 *       409: { $ref: '#/components/responses/Error' }
 */
v1.get("/rooms/:roomId", (request, response) => {
  const room = findRoom(request, response);
  return room && response.json({ data: show(room) });
});

v1.patch("/rooms/:roomId", (request, response) => {
  const room = findRoom(request, response);
  if (!room) return undefined;
  const { picked, wrong } = pick(request.body, ROOM_RULES, []);
  if (wrong) return fail(response, 400, "invalid", `${wrong} is invalid`);
  if (fault === "no-features" && picked.features?.length === 0) {
    return response.status(500).json({ error: { code: "invalid", message: "reduce of empty array" } });
  }
  if (fault === "features-reset" && Object.keys(picked).join() === "capacity") picked.features = [];
  Object.assign(room, picked);
  return response.json({ data: show(room) });
});

v1.delete("/rooms/:roomId", (request, response) => {
  const room = findRoom(request, response);
  if (!room) return undefined;
  if (bookings.some((booking) => booking.roomId === room.id)) {
    return fail(response, 409, "conflict", "the room has bookings");
  }
  firstMistaken = rooms.indexOf(room);
  rooms = rooms.filter((other) => other !== room);
  return response.status(204).end();
});

/**
 * @openapi
 * /rooms/{roomId}/bookings:
 *   parameters:
 *     - $ref: '#/components/parameters/roomId'
 *   get:
 *     operationId: listBookings
 *     responses:
 *       200:
 *         description: the bookings of the room, earliest first
 *         content:
 *           application/json:
 *             schema:
 *               type: object
 *               required: [data]
 *               properties:
 *                 data: { type: array, items: { $ref: '#/components/schemas/Booking' } }
 *       401: { $ref: '#/components/responses/Error' }
 *       404: { $ref: '#/components/responses/Error' }
 *   post:
 *     operationId: book
 *     requestBody:
 *       required: true
 *       content:
 *         application/json:
 *           schema: { $ref: '#/components/schemas/BookingInput' }
 *     responses:
 *       201:
 *         description: booked
 *         content:
 *           application/json:
 *             schema:
 *               type: object
 *               required: [data]
 *               properties:
 *                 data: { $ref: '#/components/schemas/Booking' }
 *       400: { $ref: '#/components/responses/Error' }
 *       401: { $ref: '#/components/responses/Error' }
 *       404: { $ref: '#/components/responses/Error' }
 *       409: { $ref: '#/components/responses/Error' }
 */
v1.get("/rooms/:roomId/bookings", (request, response) => {
  const room = findRoom(request, response);
  if (!room) return undefined;
  const all = fault === "cancelled-listed" ? [...bookings, ...cancelled] : bookings;
  const found = all.filter((booking) => booking.roomId === room.id).sort((one, other) => one.from - other.from);
  return response.json({ data: found });
});

v1.post("/rooms/:roomId/bookings", (request, response) => {
  const room = findRoom(request, response);
  if (!room) return undefined;
  const { picked, wrong } = pick(request.body, BOOKING_RULES, ["from", "hours"]);
  if (wrong) return fail(response, 400, "invalid", `${wrong} is missing or invalid`);
  const { from, hours, title = "" } = picked;
  const clashes = bookings.some(
    (other) =>
      other.roomId === room.id &&
      from < other.from + other.hours &&
      other.from < from + hours &&
      !(fault === "overlap" && other.from === from),
  );
  if (clashes) return fail(response, 409, "conflict", "the room is taken");
  lastBooking += 1;
  const booking = { id: lastBooking, roomId: room.id, from, hours, title };
  bookings.push(booking);
  return response.status(201).json({ data: booking });
});

/**
 * @openapi
 * /rooms/{roomId}/bookings/{bookingId}:
 *   parameters:
 *     - $ref: '#/components/parameters/roomId'
 *     - { name: bookingId, in: path, required: true, schema: { type: integer, minimum: 1 } }
 *   get:
 *     operationId: getBooking
 *     responses:
 *       200:
 *         description: the booking
 *         content:
 *           application/json:
 *             schema:
 *               type: object
 *               required: [data]
 *               properties:
 *                 data: { $ref: '#/components/schemas/Booking' }
 *       401: { $ref: '#/components/responses/Error' }
 *       404: { $ref: '#/components/responses/Error' }
 *   delete:
 *     operationId: cancelBooking
 *     responses:
 *       204: { description: cancelled }
 *       401: { $ref: '#/components/responses/Error' }
 *       404: { $ref: '#/components/responses/Error' }
 */
function findBooking(request, response) {
  const room = findRoom(request, response);
  if (!room) return undefined;
  const wanted = request.params.bookingId;
  const booking = bookings.find(({ id, roomId }) => `${id}` === wanted && roomId === room.id);
  if (booking) return booking;
  if (fault === "html-404") response.status(404).send("<h1>Not found</h1>");
  else fail(response, 404, "not_found", "no such booking");
  return undefined;
}

v1.get("/rooms/:roomId/bookings/:bookingId", (request, response) => {
  const booking = findBooking(request, response);
  return booking && response.json({ data: booking });
});

v1.delete("/rooms/:roomId/bookings/:bookingId", (request, response) => {
  const booking = findBooking(request, response);
  if (!booking) return undefined;
  bookings = bookings.filter((other) => other !== booking);
  cancelled.push(booking);
  return response.status(204).end();
});

app.use((request, response) => fail(response, 404, "not_found", "no such path"));
app.use((error, request, response, next) => fail(response, error.status ?? 500, "invalid", error.message));
app.listen(Number(process.argv[2]), "127.0.0.1");
