// Connects ioxide to the system under test: one JSON object per line, in both directions.
// Replace `Login` by your own program; `main` can stay as it is.
import { createInterface } from 'node:readline';

const BUG = process.env.BUG === '1'; // the bug: the third wrong PIN does not lock

// The system under test: a login that locks after three wrong PINs.
class Login {
  left = 3;

  // Handles one input and returns the replies: [label, fields].
  take(label, args) {
    if (label === 'LOGOUT') return [['BYE', {}]];
    if (this.left === 0) return [['LOCKED', {}]];
    if (args.pin === 1234) {
      this.left = 3;
      return [['WELCOME', {}]];
    }
    this.left -= 1;
    if (this.left === 0 && !BUG) return [['LOCKED', {}]];
    return [['WRONG', { left: this.left }]];
  }
}

function say(type, fields) {
  process.stdout.write(JSON.stringify({ type, ...fields }) + '\n');
}

async function main() {
  say('hello', { protocol: 1, name: 'login', reset: 'message' });
  let system = new Login();
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.type === 'configure' || message.type === 'reset') {
      system = new Login();
      say('ready', {});
    } else if (message.type === 'input') {
      say('sent', { id: message.id });
      for (const [label, args] of system.take(message.label, message.args ?? {})) say('output', { label, args });
    } else if (message.type === 'bye') {
      say('bye', {});
      return;
    }
  }
}

await main();
