// The system's side of the adapter protocol: `hello` at once, `ready` after a reset, `sent` after an input, and outputs
// whenever the system has them. Whatever goes wrong becomes an `error` message: nothing is passed over in silence.
//
// Resets, handlers and calls made later take turns, also those that are asynchronous.

import net from 'node:net';
import readline from 'node:readline';

import { Clock, nanoseconds } from './clock.js';
import { BadLine, PROTOCOL, findInside, fromLine, toLine } from './codec.js';

export { Case } from './codec.js';

/** The input was definitely not given to the system. */
export class Refused extends Error {}

/** The system, or the way to it, is of no more use. */
export class Broken extends Error {}

/** An output that cannot be sent as it is: a mistake of the adapter, and no fault of the system. */
class UnsendableOutput extends TypeError {}

/** What to do about numbers that are too large. */
const GIVE_A_RANGE = 'give the field a range in the model, as in `n: 0..100`, or use bigint';

/** A system under test. Extend it: `static inputs` and `outputs`, `reset`, a method for every input, `emit`. */
export class Adapter {
  /** The inputs with the sorts of their fields. */
  static inputs = {};
  /** The outputs with the sorts of their fields; if there are any, `emit` checks against them. */
  static outputs = {};
  /** Messages that somebody else sends and the adapter only sees; emitted like outputs. */
  static observed = {};
  /** Whether its time is only that of `after` and `now`, so that ioxide may let it pass as it likes. */
  static virtualTime = false;
  /** Whether it emits nothing more once a handler or `reset` has returned, calls by `after` aside. */
  static synchronous = false;
  /** Whether several clients may use the system at the same time (`ioxide test --clients`), each by an adapter of its
   * own, which `serve` makes. Then only the one that resets the system for all of them has its `reset` called. */
  static concurrentClients = false;

  settings = {};
  seed = null;
  instance = 0;

  #write = undefined;
  #turn = Promise.resolve();
  #held = [];
  #due = undefined;
  #resetting = false;
  #configured = false;
  #ready = false;
  #spoken = false;
  #handlers;
  #callsUnderWay = 0;
  #clock = new Clock((call) => this.#makeCall(call));

  constructor() {
    this.#handlers = handlersOf(this);
  }

  /** Brings the system to its initial state. */
  async reset() {}

  /** Lets go of the system; called when ioxide has left. */
  async close() {}

  /** Tells that the system sent a message, at any time. */
  emit(label, args = {}) {
    const { outputs, observed } = this.constructor;
    if (Object.keys(outputs).length) checkOutput({ ...outputs, ...observed }, label, args);
    checkExact({ ...outputs, ...observed }[label] ?? {}, label, args);
    const line = outputLine(label, args);
    this.#spoken = true;
    if (this.#due !== undefined || this.#resetting) this.#held.push(line);
    else if (this.#ready) this.#write?.(line);
    else this.log(`\`${label}\` was emitted before the system was ready: it belongs to no run and is not reported`);
  }

  /** Says that the system has got the input being handled; later outputs come after it. */
  sent() {
    this.#confirm({});
  }

  /** Makes a call that is due, when it has its turn. */
  async #makeCall(call) {
    this.#callsUnderWay += 1;
    try {
      await this.#take(async () => call());
    } catch (error) {
      this.#lateFailure(error);
    } finally {
      this.#callsUnderWay -= 1;
    }
  }

  #confirm(more) {
    if (this.#due === undefined) return;
    const id = this.#due;
    this.#due = undefined;
    this.#tell({ type: 'sent', id, time_ns: process.hrtime.bigint(), ...more });
    this.#release();
  }

  /** The number of outputs after which it is certainly silent until the next input; nothing if that is not known. */
  #outputsToCome() {
    const isIdle = this.#clock.next() === undefined && this.#callsUnderWay === 0;
    const isKnown = this.constructor.synchronous && isIdle && !this.#clock.isVirtual;
    return isKnown ? { outputs: this.#held.length } : {};
  }

  /** Makes a call that much later, unless the system is reset before. */
  after(seconds, call, ...args) {
    this.#clock.after(nanoseconds(seconds), () => call(...args));
  }

  /** Seconds since the system was reset, on the clock in use. */
  now() {
    return this.#clock.now() / 1e9;
  }

  /** Tells people something; shown when a run goes wrong. */
  log(text) {
    this.#tell({ type: 'log', text: String(text) });
  }

  /** Listens at `HOST:PORT`; everybody who connects gets an adapter object of their own, all at the same time. */
  static async serve(listen) {
    return listenAt(listen, (socket) => new this().talk(socket, socket));
  }

  /** Speaks on stdin and stdout, or to whoever connects to the address `HOST:PORT`, one after the other. */
  async run(listen) {
    if (listen !== undefined) return this.#listen(listen);
    // What the system prints must not break the protocol.
    console.log = console.info = console.debug = console.error;
    await this.talk(process.stdin, process.stdout);
    process.stdin.destroy();
  }

  /** One conversation, up to `bye` or the end of `reader`. */
  async talk(reader, writer) {
    writer.on('error', () => {});
    this.#write = (line) => writer.write(line);
    [this.#configured, this.#ready] = [false, false];
    this.#tell(this.#hello());
    const lines = readline.createInterface({ input: reader, crlfDelay: Infinity });
    try {
      for await (const line of lines) if (line.trim() && !(await this.#hear(line))) break;
    } finally {
      lines.close();
      this.#clock.stop();
      this.#write = undefined;
      await this.close();
    }
  }

  async #listen(address) {
    let talking = Promise.resolve();
    return listenAt(address, (socket) => {
      const talk = () => this.talk(socket, socket);
      return (talking = talking.then(talk, talk));
    });
  }

  /** Does `work` when everybody before has had the turn. */
  #take(work) {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /** Acts on one line; false after `bye`. */
  async #hear(line) {
    let message;
    try {
      message = fromLine(line);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      this.#fail('refused', error.message);
      return true;
    }
    switch (message.type) {
      case 'bye':
        this.#tell({ type: 'bye' });
        return false;
      case 'configure':
        await this.#configure(message);
        break;
      case 'reset':
        await this.#reset();
        break;
      case 'input':
        await this.#input(message);
        break;
      case 'advance':
        await this.#advance(message);
        break;
      case 'log':
        break;
      default:
        this.#fail('refused', `this adapter does not understand \`${message.type}\``);
    }
    return true;
  }

  async #configure(message) {
    const isVirtual = message.virtual_time === true;
    if (isVirtual && !this.constructor.virtualTime) {
      this.#fail('refused', 'this adapter has no virtual time');
      return;
    }
    const isClient = message.client === true;
    if (isClient && !this.constructor.concurrentClients) {
      this.#fail('refused', 'this adapter has no concurrent clients');
      return;
    }
    this.settings = message.settings ?? {};
    this.instance = message.instance ?? 0;
    this.seed = message.seed ?? null;
    this.#configured = true;
    await this.#reset(isVirtual, isClient);
  }

  async #reset(isVirtual, isClient = false) {
    if (!this.#configured) {
      this.#fail('refused', '`configure` must come first');
      return;
    }
    await this.#take(async () => {
      this.#clock.stop();
      if (isVirtual !== undefined) this.#clock.isVirtual = isVirtual;
      [this.#held, this.#spoken, this.#resetting] = [[], false, true];
      try {
        // A client finds the system as it is.
        if (!isClient) await this.reset();
        this.#clock.start();
        this.#tell({ type: 'ready', ...this.#outputsToCome() });
        this.#ready = true;
      } catch (error) {
        this.#held = [];
        this.#fail('broken', `reset: ${told(error)}`);
      } finally {
        this.#resetting = false;
        this.#release();
      }
    });
  }

  async #input(message) {
    const { id } = message;
    if (!Number.isInteger(id)) {
      this.#fail('refused', 'an `input` has an `id`');
      return;
    }
    let handle;
    try {
      handle = this.#handler(message);
    } catch (error) {
      this.#fail('refused', error.message, id);
      return;
    }
    await this.#take(async () => {
      this.#due = id;
      try {
        await handle();
        this.#confirm(this.#outputsToCome());
      } catch (error) {
        this.#due = undefined;
        this.#release();
        const advice = bigintAdvice(error, message.args);
        // Mixing numbers and bigints is a mistake of the adapter, no fault of the system.
        const kind = advice ? 'unknown' : kindOf(error);
        if (kind === 'unknown' || kind === 'exception') console.error(error);
        this.#fail(kind, told(error) + advice, id, error);
      }
    });
  }

  #handler({ label, args = {} }) {
    if (!this.#configured) throw new Refused('`configure` must come first');
    const known = this.#handlers.get(label);
    if (!known) {
      const names = [...this.#handlers.keys()].map((name) => `\`${name}\``).join(', ') || 'none';
      throw new Refused(`there is no input \`${label}\`; there is ${names}`);
    }
    const fields = Object.keys(this.constructor.inputs[label]);
    const given = Object.keys(args);
    if (fields.length !== given.length || fields.some((field) => !given.includes(field))) {
      throw new Refused(`\`${label}\` has the fields [${fields}], not [${given}]`);
    }
    return () => known.call(this, args);
  }

  /** Virtual time passes, up to the first instant at which something is emitted. */
  async #advance(message) {
    if (!(this.#configured && this.#clock.isVirtual)) {
      this.#fail('refused', 'there is no virtual time here: `configure` did not ask for it');
      return;
    }
    const now = this.#clock.now();
    const to = Number(message.to_ns ?? this.#clock.next() ?? now);
    if (!Number.isInteger(to) || to < now) {
      this.#fail('refused', `time cannot pass from ${now} ns to ${message.to_ns} ns`);
      return;
    }
    await this.#take(async () => {
      for (let call; !this.#spoken && (call = this.#clock.step(to)); ) await call();
      if (!this.#spoken) this.#clock.move(to);
      this.#spoken = false;
      const due = message.foresee === true ? this.#clock.next() : undefined;
      this.#tell({ type: 'advanced', now_ns: this.#clock.now(), ...(due === undefined ? {} : { next_ns: due }) });
    }).catch((error) => this.#lateFailure(error));
  }

  /** A call made later went wrong: nobody knows what the system does now. */
  #lateFailure(error) {
    console.error(error);
    this.#fail(kindOf(error), `a delayed call failed: ${told(error)}`, undefined, error);
  }

  #release() {
    const held = this.#held;
    this.#held = [];
    for (const line of held) this.#write?.(line);
  }

  #fail(kind, text, id, error) {
    const traceback = kind === 'exception' && error instanceof Error ? { traceback: error.stack } : {};
    this.#tell({ type: 'error', kind, text, ...(id === undefined ? {} : { id }), ...traceback });
  }

  #tell(message) {
    this.#write?.(toLine(message));
  }

  #hello() {
    const { inputs, outputs, observed, virtualTime, concurrentClients, name } = this.constructor;
    const labels = [['input', inputs], ['observed', observed], ['output', outputs]].flatMap(([direction, list]) =>
      Object.entries(list).map(([label, fields]) => ({
        label,
        direction,
        fields: Object.entries(fields).map(([field, sort]) => ({ name: field, sort })),
      })),
    );
    const clients = concurrentClients ? { clients: true } : {};
    const hello = { type: 'hello', protocol: PROTOCOL, name, labels, ...clients };
    return virtualTime ? { ...hello, virtual_time: true, foresight: true } : hello;
  }
}

/** Listens at `HOST:PORT`; `talk` speaks to whoever connects. */
async function listenAt(address, talk) {
  const [, host, port] = /^(?:(.*):)?(\d+)$/.exec(String(address)) ?? [];
  if (port === undefined) throw new RangeError(`${address} is not an address: write HOST:PORT`);
  const server = net.createServer({ pauseOnConnect: true });
  server.on('connection', (socket) => {
    socket.setNoDelay(true);
    talk(socket).finally(() => socket.destroy());
  });
  await new Promise((resolve, reject) =>
    server.once('error', reject).listen(Number(port), host || '127.0.0.1', resolve),
  );
  const at = server.address();
  process.stderr.write(`listening on ${at.address}:${at.port}\n`);
  return server;
}

/** The method for every input: `on_label`, else the one of its own name that Adapter does not use itself. */
function handlersOf(adapter) {
  const handlers = new Map();
  for (const label of Object.keys(adapter.constructor.inputs)) {
    const own = label in Adapter.prototype ? undefined : adapter[label];
    const handler = adapter[`on_${label}`] ?? own;
    if (typeof handler !== 'function') {
      throw new TypeError(`no method handles the input \`${label}\`: write \`on_${label}({ ... }) { ... }\``);
    }
    handlers.set(label, handler);
  }
  return handlers;
}

function checkOutput(outputs, label, args) {
  const fields = outputs[label];
  if (!fields)
    throw new UnsendableOutput(`there is no output \`${label}\`; there is ${Object.keys(outputs).join(', ')}`);
  const [wanted, given] = [Object.keys(fields), Object.keys(args)];
  if (wanted.length !== given.length || wanted.some((field) => !given.includes(field))) {
    throw new UnsendableOutput(`\`${label}\` has the fields [${wanted}], not [${given}]`);
  }
}

/** The line that tells an output. */
function outputLine(label, args) {
  try {
    return toLine({ type: 'output', label, args, time_ns: process.hrtime.bigint() });
  } catch (error) {
    throw new UnsendableOutput(`\`${label}\`: ${error.message}`);
  }
}

/** Refuses whole numbers beyond 2^53, which may have lost digits on their way here, unless the field is a real. */
function checkExact(sorts, label, args) {
  const isInexact = (value) => Number.isInteger(value) && !Number.isSafeInteger(value);
  for (const [field, value] of Object.entries(args)) {
    const found = sorts[field] === 'real' ? undefined : findInside(value, isInexact);
    if (found !== undefined) {
      throw new UnsendableOutput(
        `\`${label}.${field}\`: ${found} is beyond 2^53, where numbers of JavaScript lose digits: ${GIVE_A_RANGE}`,
      );
    }
  }
}

/** What a handler that was given a bigint may have to be told about its error. */
function bigintAdvice(error, args) {
  const large = error instanceof TypeError ? findInside(args ?? {}, (value) => typeof value === 'bigint') : undefined;
  return large === undefined ? '' : ` (${large} is beyond 2^53 and was given as a bigint: ${GIVE_A_RANGE})`;
}

/** What an error of a handler means: any that is not one of ours is a fault of the system. */
function kindOf(error) {
  if (error instanceof Refused) return 'refused';
  if (error instanceof Broken) return 'broken';
  // An output that cannot be sent is a mistake of the adapter, and what the operating system reports (a connection
  // that is refused) is trouble on the way: neither is a fault of the system.
  return error instanceof UnsendableOutput || error?.syscall !== undefined ? 'unknown' : 'exception';
}

function told(error) {
  const known = error instanceof Refused || error instanceof Broken;
  return known ? error.message : String(error);
}
