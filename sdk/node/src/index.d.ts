/** A value of a field: whole numbers beyond 2^53 are `bigint`; reals are numbers, or texts such as `"1/3"`. */
export type Value =
  | boolean
  | number
  | bigint
  | string
  | null
  | Value[]
  | { [field: string]: Value }
  | Set<Value>
  | Map<Value, Value>
  | Case;

/** A case of an enum: `new Case('error', { code: 3 })`, or `new Case('ok')` without fields. */
export class Case {
  constructor(name: string, fields?: Record<string, Value>);
  name: string;
  fields: Record<string, Value>;
  /** The case that came as `value`: a word, or an object with one key. */
  static of(value: Value): Case;
}

/** Messages with the sorts of their fields: `{ inX: { p: 'int' } }`. */
export type Messages = Record<string, Record<string, string>>;

/** The input was definitely not given to the system. */
export class Refused extends Error {}

/** The system, or the way to it, is of no more use. */
export class Broken extends Error {}

/** A system under test. Extend it: `static inputs` and `outputs`, `reset`, a method for every input, `emit`. */
export class Adapter {
  static inputs: Messages;
  /** If there are any, `emit` checks against them. */
  static outputs: Messages;
  /** Messages that somebody else sends and the adapter only sees; emitted like outputs. */
  static observed: Messages;
  /** Whether its time is only that of `after` and `now`, so that ioxide may let it pass as it likes. */
  static virtualTime: boolean;
  /** Whether it emits nothing more once a handler or `reset` has returned, except in calls by `after`: ioxide then
   * need not wait to see that it is silent. */
  static synchronous: boolean;
  /** Whether several clients may use the system at the same time (`ioxide test --clients`), each by an adapter of its
   * own, which `serve` makes. Then only the one that resets the system for all of them has its `reset` called. */
  static concurrentClients: boolean;

  /** Listens at `HOST:PORT`; everybody who connects gets an adapter object of their own, all at the same time. */
  static serve(listen: string): Promise<import('node:net').Server>;

  /** The settings ioxide asked for. */
  settings: Record<string, Value>;
  /** The seed ioxide asked for. */
  seed: number | bigint | null;
  /** Which of several systems side by side this is. */
  instance: number;

  /** Brings the system to its initial state. */
  reset(): void | Promise<void>;
  /** Lets go of the system; called when ioxide has left. */
  close(): void | Promise<void>;
  /** Tells that the system sent a message, at any time. */
  emit(label: string, args?: Record<string, Value>): void;
  /** Says that the system has got the input being handled; later outputs come after it. */
  sent(): void;
  /** Makes a call that much later, unless the system is reset before. */
  after<A extends unknown[]>(seconds: number, call: (...args: A) => unknown, ...args: A): void;
  /** Seconds since the system was reset, on the clock in use. */
  now(): number;
  /** Tells people something; shown when a run goes wrong. */
  log(text: string): void;
  /** Speaks on stdin and stdout. */
  run(): Promise<void>;
  /** Listens at `HOST:PORT` and speaks to whoever connects. */
  run(listen: string): Promise<import('node:net').Server>;
  /** One conversation, up to `bye` or the end of `reader`. */
  talk(reader: NodeJS.ReadableStream, writer: NodeJS.WritableStream): Promise<void>;
}
