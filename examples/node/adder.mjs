// The adder of examples/adder.iox in JavaScript; with ADDER_FAULT=1 it forgets to add sums above 12.
import { Adapter } from '../../sdk/node/src/index.js';

const faulty = process.env.ADDER_FAULT === '1';

class Adder extends Adapter {
  static inputs = { inX: { p: 'int' } };
  static outputs = { outX: { p: 'int' }, done: {} };

  reset() {
    this.sum = 0;
  }

  inX({ p }) {
    if (!(faulty && this.sum + p > 12)) this.sum += p;
    this.emit('outX', { p: this.sum });
    if (this.sum > 15) this.emit('done');
  }
}

await new Adder().run();
