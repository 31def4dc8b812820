// The adapter, spoken to line by line.
import assert from 'node:assert/strict';
import net from 'node:net';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import test from 'node:test';
import readline from 'node:readline';

import { Adapter, Broken, Case, Refused } from '../src/index.js';
import { fromLine, toLine } from '../src/codec.js';

class Adder extends Adapter {
  static inputs = { add: { n: 'int' }, reset: {}, slow: {}, bad: { how: 'string' } };
  static outputs = { sum: { n: 'int' }, late: {} };
  static virtualTime = true;

  reset() {
    this.sum = 0;
  }

  add({ n }) {
    this.sum = typeof n === 'bigint' ? n + BigInt(this.sum) : this.sum + n;
    this.emit('sum', { n: this.sum });
  }

  on_reset() {
    this.sum = 0;
  }

  async slow() {
    this.after(1.5, () => this.emit('late'));
    await new Promise((resolve) => setImmediate(resolve));
  }

  bad({ how }) {
    if (how === 'refused') throw new Refused('no');
    if (how === 'broken') throw new Broken('gone');
    if (how === 'output') this.emit('nonsense');
    throw new Error('oh');
  }
}

/** A conversation: what is said, and what comes back. */
function conversation(adapter) {
  const [reader, writer] = [new PassThrough(), new PassThrough()];
  const lines = readline.createInterface({ input: writer })[Symbol.asyncIterator]();
  const over = adapter.talk(reader, writer);
  return {
    say: (message) => reader.write(`${typeof message === 'string' ? message : toLine(message).trimEnd()}\n`),
    hear: async () => fromLine((await lines.next()).value),
    end: () => (reader.end(), over),
  };
}

/** A conversation with the system reset. */
async function begun(more = {}) {
  const talk = conversation(new Adder());
  const hello = await talk.hear();
  talk.say({ type: 'configure', settings: {}, seed: 1, ...more });
  assert.equal((await talk.hear()).type, 'ready');
  return { ...talk, hello };
}

test('it says what it understands', async () => {
  const { hello, end } = await begun();
  assert.equal(hello.name, 'Adder');
  assert.equal(hello.virtual_time, true);
  assert.deepEqual(hello.labels[0], { label: 'add', direction: 'input', fields: [{ name: 'n', sort: 'int' }] });
  await end();
});

test('outputs of a handler come after its receipt', async () => {
  const { say, hear, end } = await begun();
  say({ type: 'input', id: 1, label: 'add', args: { n: 3 } });
  const [sent, output] = [await hear(), await hear()];
  assert.deepEqual([sent.type, sent.id, output.type, output.args], ['sent', 1, 'output', { n: 3 }]);
  say({ type: 'reset' });
  assert.equal((await hear()).type, 'ready');
  await end();
});

test('numbers of any size come and go', async () => {
  const { say, hear, end } = await begun();
  const big = 12345678901234567890123n;
  say({ type: 'input', id: 1, label: 'add', args: { n: big } });
  await hear();
  assert.equal((await hear()).args.n, big);
  assert.deepEqual(fromLine('{"type":"x","a":[1.5,-2,"\\u0041\\"]"],"__proto__":{"b":null}}').a, [1.5, -2, 'A"]']);
  await end();
});

test('what goes wrong is told', async () => {
  const { say, hear, end } = await begun();
  const kinds = [];
  const errors = console.error;
  console.error = () => {};
  for (const [id, message] of [
    { label: 'nowhere' },
    { label: 'add', args: {} },
    { label: 'bad', args: { how: 'refused' } },
    { label: 'bad', args: { how: 'broken' } },
    { label: 'bad', args: { how: 'output' } },
    { label: 'bad', args: { how: 'other' } },
  ].entries()) {
    say({ type: 'input', id, ...message });
    const told = await hear();
    assert.deepEqual([told.type, told.id], ['error', id]);
    kinds.push(told.kind);
  }
  console.error = errors;
  assert.deepEqual(kinds, ['refused', 'refused', 'refused', 'broken', 'unknown', 'exception']);
  say('nonsense');
  assert.equal((await hear()).kind, 'refused');
  say({ type: 'dance' });
  assert.equal((await hear()).kind, 'refused');
  await end();
});

test('a method that Adapter needs itself is no handler', async () => {
  const { say, hear, end } = await begun();
  say({ type: 'input', id: 1, label: 'reset', args: {} });
  assert.equal((await hear()).type, 'sent');
  class Wrong extends Adapter {
    static inputs = { emit: {} };
  }
  assert.throws(() => new Wrong(), /on_emit/);
  await end();
});

test('virtual time passes when it is told to, up to the first output', async () => {
  const { say, hear, end } = await begun({ virtual_time: true });
  say({ type: 'input', id: 1, label: 'slow', args: {} });
  assert.equal((await hear()).type, 'sent');
  say({ type: 'advance', to_ns: 1_000_000_000 });
  assert.deepEqual(await hear(), { type: 'advanced', now_ns: 1_000_000_000 });
  say({ type: 'advance', to_ns: 9_000_000_000 });
  assert.equal((await hear()).label, 'late');
  assert.deepEqual(await hear(), { type: 'advanced', now_ns: 1_500_000_000 });
  await end();
});

test('a reset forgets the calls that were still to come', async () => {
  const { say, hear, end } = await begun({ virtual_time: true });
  say({ type: 'input', id: 1, label: 'slow', args: {} });
  await hear();
  say({ type: 'reset' });
  await hear();
  say({ type: 'advance', to_ns: 9_000_000_000 });
  assert.deepEqual(await hear(), { type: 'advanced', now_ns: 9_000_000_000 });
  await end();
});

test('it speaks over TCP, to one after the other', async () => {
  const server = await new Adder().run('127.0.0.1:0');
  try {
    for (let round = 0; round < 2; round += 1) {
      const socket = net.connect(server.address().port, '127.0.0.1');
      const [data] = await once(socket, 'data');
      assert.match(String(data), /"hello"/);
      socket.end();
      await once(socket, 'close');
    }
  } finally {
    server.close();
  }
});

test('collections and cases are sent as models have them', () => {
  const sent = (x) => fromLine(toLine({ type: 'output', x })).x;
  assert.deepEqual(sent(new Set(['a', 'a'])), ['a']);
  assert.deepEqual(sent(new Map([['k', new Set([1])]])), { k: [1] });
  assert.deepEqual(sent(new Map([[1, 'a']])), [[1, 'a']]);
  for (const one of [new Case('ok'), new Case('error', { code: 3 })]) assert.deepEqual(Case.of(sent(one)), one);
  assert.deepEqual(sent([new Case('all', { of: new Set([1]) })]), [{ all: { of: [1] } }]);
  for (const none of [3, null, {}, { a: 1 }, { a: {}, b: {} }, ['ok']]) assert.throws(() => Case.of(none), TypeError);
});

class Numbers extends Adapter {
  static inputs = { double: { n: 'int' }, grow: { n: 'int' }, later: {} };
  static outputs = { told: { n: 'int' }, list: { all: 'list<int>' }, real: { x: 'real' } };
  static virtualTime = true;

  double({ n }) {
    this.emit('told', { n: n * 2 });
  }

  grow({ n }) {
    this.emit('list', { all: [n * 2 ** 53] });
  }

  later() {
    this.after(1, () => this.emit('told', { n: 2 ** 60 }));
    this.emit('real', { x: 1e300 });
  }
}

test('numbers that lost digits are mistakes of the adapter', async () => {
  const talk = conversation(new Numbers());
  await talk.hear();
  talk.say({ type: 'configure', virtual_time: true });
  assert.equal((await talk.hear()).type, 'ready');
  talk.say({ type: 'input', id: 1, label: 'double', args: { n: 2 ** 53 - 1 } });
  const inexact = await talk.hear();
  assert.deepEqual([inexact.type, inexact.kind], ['error', 'unknown']);
  assert.match(inexact.text, /told\.n.*beyond 2\^53.*give the field a range/);
  talk.say({ type: 'input', id: 2, label: 'grow', args: { n: 3 } });
  assert.match((await talk.hear()).text, /list\.all.*give the field a range/);
  talk.say('{"type":"input","id":3,"label":"grow","args":{"n":9007199254740993}}');
  const mixed = await talk.hear();
  assert.equal(mixed.kind, 'unknown');
  assert.match(mixed.text, /9007199254740993 is beyond 2\^53 and was given as a bigint: give the field a range/);
  talk.say({ type: 'input', id: 4, label: 'later' });
  assert.equal((await talk.hear()).type, 'sent');
  assert.equal((await talk.hear()).args.x, 1e300);
  talk.say({ type: 'advance', to_ns: 1 });
  assert.equal((await talk.hear()).type, 'advanced');
  talk.say({ type: 'advance', to_ns: 2000000000 });
  const late = await talk.hear();
  assert.deepEqual([late.type, late.kind], ['error', 'unknown'], 'no breakdown of the system');
  await talk.end();
});

test('reals keep their digits', () => {
  const read = (text) => fromLine(`{"type":"t","x":${text}}`).x;
  assert.equal(read('0.1'), 0.1);
  assert.equal(read('-2.50'), -2.5);
  assert.equal(read('1e3'), 1000);
  assert.equal(read('0.12345678901234567890'), '0.12345678901234567890');
  assert.equal(read('1e400'), '1e400');
});

test('outputs before the first ready are logged', async () => {
  const adapter = new Adder();
  const talk = conversation(adapter);
  assert.equal((await talk.hear()).type, 'hello');
  adapter.emit('late');
  const log = await talk.hear();
  assert.equal(log.type, 'log');
  assert.match(log.text, /before the system was ready/);
  talk.say({ type: 'configure' });
  assert.equal((await talk.hear()).type, 'ready');
  adapter.emit('late');
  assert.equal((await talk.hear()).label, 'late');
  await talk.end();
});

test('several clients use one system, which only one of them resets', async () => {
  class Shared extends Adapter {
    static inputs = { add: {} };
    static outputs = { total: { n: 'int' } };
    static concurrentClients = true;
    static n = 5;

    reset() {
      Shared.n = 0;
    }

    async add() {
      const n = (Shared.n += 1);
      await new Promise((resolve) => setImmediate(resolve));
      this.emit('total', { n });
    }
  }
  const server = await Shared.serve('127.0.0.1:0');
  const connected = async (more) => {
    const socket = net.connect(server.address().port, '127.0.0.1');
    const lines = readline.createInterface({ input: socket })[Symbol.asyncIterator]();
    const hear = async () => fromLine((await lines.next()).value);
    const say = (message) => socket.write(toLine(message));
    assert.equal((await hear()).clients, true);
    say({ type: 'configure', ...more });
    assert.equal((await hear()).type, 'ready');
    return { say, hear, socket };
  };
  const control = await connected({});
  const clients = [await connected({ client: true }), await connected({ client: true })];
  clients.forEach(({ say }) => say({ type: 'input', id: 1, label: 'add', args: {} }));
  const answers = [];
  for (const { hear } of clients) {
    assert.equal((await hear()).type, 'sent');
    answers.push((await hear()).args.n);
  }
  assert.deepEqual(answers.sort(), [1, 2]);
  control.say({ type: 'reset' });
  assert.equal((await control.hear()).type, 'ready');
  assert.equal(Shared.n, 0);
  for (const { socket } of [control, ...clients]) socket.destroy();
  server.close();
});

test('a client of an adapter that has none is refused', async () => {
  const { say, hear, end } = conversation(new Adder());
  await hear();
  say({ type: 'configure', client: true });
  assert.equal((await hear()).kind, 'refused');
  await end();
});
