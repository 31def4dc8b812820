// Calls that are due later, on the clock of this machine or in virtual time, counted in nanoseconds since the reset.

const SECOND = 1_000_000_000;
/** Timers take no longer time; longer waits are made in parts. */
const LONGEST_MS = 3_600_000;

/** A length of time in nanoseconds. */
export function nanoseconds(seconds) {
  const time = Number(seconds);
  if (!Number.isFinite(time) || time < 0) throw new RangeError(`${seconds} is not a time in seconds`);
  return Math.round(time * SECOND);
}

/** The time of one system, and what is due in it. */
export class Clock {
  #calls = [];
  #numbers = 0;
  #life = 0;
  #started = undefined;
  #now = 0;
  #timer = undefined;
  isVirtual = false;

  /** `serve` is given each call when it is due. */
  constructor(serve) {
    this.serve = serve;
  }

  /** Ends the life: its calls are forgotten, and the clock stands at 0. */
  stop() {
    this.#life += 1;
    this.#calls = [];
    clearTimeout(this.#timer);
    [this.#started, this.#now, this.#timer] = [undefined, 0, undefined];
  }

  /** Lets time begin. */
  start() {
    this.#started = process.hrtime.bigint();
    this.#arm();
  }

  /** How late it is. */
  now() {
    if (this.isVirtual || this.#started === undefined) return this.#now;
    return Number(process.hrtime.bigint() - this.#started);
  }

  /** Makes the call that much later; calls due at the same instant are made in the order given. */
  after(wait, call) {
    this.#calls.push({ due: this.now() + wait, number: this.#numbers++, call });
    this.#calls.sort((a, b) => a.due - b.due || a.number - b.number);
    this.#arm();
  }

  /** When the next call is due, if there is one. */
  next() {
    return this.#calls[0]?.due;
  }

  /** The next call, if virtual time comes to it before `to`. */
  step(to) {
    if (!this.#calls.length || this.#calls[0].due > to) return undefined;
    const { due, call } = this.#calls.shift();
    this.#now = Math.max(this.#now, due);
    return call;
  }

  /** Lets virtual time pass in which nothing is due. */
  move(to) {
    this.#now = Math.max(this.#now, to);
  }

  #arm() {
    clearTimeout(this.#timer);
    if (this.isVirtual || this.#started === undefined || !this.#calls.length) return;
    const left = Math.max(0, Math.ceil((this.#calls[0].due - this.now()) / 1e6));
    const life = this.#life;
    this.#timer = setTimeout(() => {
      if (life !== this.#life) return;
      while (this.#calls.length && this.#calls[0].due <= this.now()) {
        const { call } = this.#calls.shift();
        this.serve(() => life === this.#life && call());
      }
      this.#arm();
    }, Math.min(left, LONGEST_MS));
  }
}
