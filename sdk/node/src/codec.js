// Messages as lines of JSON, exact: whole numbers beyond 2^53 are `bigint`.

/** The version of the protocol spoken here. */
export const PROTOCOL = 1;

/** A line that is not a message. */
export class BadLine extends Error {}

/** The message as one line, end mark included. */
export function toLine(message) {
  return `${written(message)}\n`;
}

function written(value) {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be sent: it is not a number of a model`);
      return JSON.stringify(value);
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
      if (value instanceof Case) return written(value.sendable());
      if (value instanceof Map) return written(withTexts(value) ? Object.fromEntries(value) : [...value]);
      if (value instanceof Set) return written([...value]);
      return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${written(one)}`).join(',')}}`;
    default:
      throw new TypeError(`a value of type \`${typeof value}\` cannot be sent`);
  }
}

/** Whether all keys are texts: such a map is an object, any other a list of pairs. */
function withTexts(map) {
  return [...map.keys()].every((key) => typeof key === 'string');
}

/** A case of an enum: `new Case('error', { code: 3 })`, or `new Case('ok')` without fields. */
export class Case {
  constructor(name, fields = {}) {
    this.name = name;
    this.fields = fields;
  }

  /** The case that came as `value`: a word, or an object with one key. */
  static of(value) {
    if (typeof value === 'string') return new Case(value);
    const entries = value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : [];
    const [name, fields] = entries[0] ?? [];
    const areFields = fields !== null && typeof fields === 'object' && !Array.isArray(fields);
    if (entries.length !== 1 || !areFields) throw new TypeError('not a case of an enum');
    return new Case(name, fields);
  }

  sendable() {
    return Object.keys(this.fields).length === 0 ? this.name : { [this.name]: this.fields };
  }
}

/** The message of a line; BadLine says what is wrong with it. */
export function fromLine(line) {
  let message;
  try {
    // JSON.parse says whether it is JSON at all; the second reading keeps large numbers.
    JSON.parse(line);
    message = new Reader(line).value();
  } catch (error) {
    throw new BadLine(`not JSON: ${error.message}`);
  }
  if (message === null || typeof message !== 'object' || typeof message.type !== 'string') {
    throw new BadLine('not a message: expected a JSON object with a `type`');
  }
  return message;
}

/** Reads JSON that is known to be correct. */
class Reader {
  constructor(text) {
    this.tokens = text.match(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|[[\]{}:,]/g) ?? [];
    this.at = 0;
  }

  next() {
    return this.tokens[this.at++];
  }

  value() {
    const token = this.next();
    if (token === '{') return this.object();
    if (token === '[') return this.list();
    if (/^-?\d+$/.test(token)) return whole(token);
    if (/^-?\d/.test(token)) return decimal(token);
    return JSON.parse(token);
  }

  object() {
    const object = {};
    while (this.tokens[this.at] !== '}') {
      const key = JSON.parse(this.next());
      this.next();
      Object.defineProperty(object, key, { value: this.value(), enumerable: true, writable: true, configurable: true });
      if (this.tokens[this.at] === ',') this.next();
    }
    this.next();
    return object;
  }

  list() {
    const list = [];
    while (this.tokens[this.at] !== ']') {
      list.push(this.value());
      if (this.tokens[this.at] === ',') this.next();
    }
    this.next();
    return list;
  }
}

function whole(digits) {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** The number of significant digits that every number of JavaScript keeps. */
const EXACT_DIGITS = 15;

/** The real number written `text`: a number or, where that would lose digits, the text, as for `"1/3"`. */
function decimal(text) {
  const digits = text.replace(/[eE].*$/, '').replace(/[-.]/g, '').replace(/^0+/, '');
  return digits.length <= EXACT_DIGITS && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The first value inside `value`, itself included, that `is` holds for; undefined if there is none. */
export function findInside(value, is) {
  if (is(value)) return value;
  if (value === null || typeof value !== 'object') return undefined;
  if (value instanceof Case) return findInside(value.fields, is);
  const parts = value instanceof Map || value instanceof Set ? [...value] : Object.values(value);
  for (const part of parts) {
    const found = findInside(part, is);
    if (found !== undefined) return found;
  }
  return undefined;
}
