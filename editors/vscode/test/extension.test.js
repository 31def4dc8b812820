// The extension without an editor: what it registers, and the commands it runs.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');

const root = path.join(__dirname, '..');
const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
const program = process.env.IOXIDE ?? 'ioxide';

/** An editor of straw, and what happened to it. */
function straw(values) {
  const seen = { commands: {}, sent: [], panels: [], errors: [], server: undefined };
  const vscode = {
    workspace: {
      getConfiguration: () => ({ get: (key, usual) => values[key] ?? usual }),
      getWorkspaceFolder: () => undefined,
      onDidSaveTextDocument: () => ({ dispose() {} }),
    },
    window: {
      terminals: [],
      createTerminal: () => ({ show() {}, sendText: (text) => seen.sent.push(text) }),
      createWebviewPanel: (kind, title) => {
        const page = { kind, title, webview: { html: '' }, onDidDispose() {} };
        seen.panels.push(page);
        return page;
      },
      showErrorMessage: (text) => seen.errors.push(text),
      showInputBox: async ({ value }) => value,
    },
    commands: { registerCommand: (name, run) => ((seen.commands[name] = run), { dispose() {} }) },
    Uri: { file: (fsPath) => ({ fsPath }) },
    ViewColumn: { Beside: 2 },
  };
  class LanguageClient {
    constructor(_id, _name, server, options) {
      seen.server = { ...server.run, options };
    }
    async start() {}
    async stop() {}
  }
  return { seen, modules: { vscode, 'vscode-languageclient/node': { LanguageClient } } };
}

/** The extension in an editor of straw. */
async function activated(values = {}) {
  const { seen, modules } = straw({ path: program, ...values });
  const load = Module._load;
  Module._load = (name, ...rest) => modules[name] ?? load(name, ...rest);
  try {
    const file = path.join(root, 'src', 'extension.js');
    delete require.cache[file];
    const extension = require(file);
    await extension.activate({ subscriptions: [] });
  } finally {
    Module._load = load;
  }
  return seen;
}

test('every command of the manifest is there, and the server is ioxide lsp', async () => {
  const seen = await activated();
  const declared = manifest.contributes.commands.map((one) => one.command).sort();
  assert.deepEqual(Object.keys(seen.commands).sort(), declared);
  assert.deepEqual(seen.server.args, ['lsp']);
  assert.equal(seen.server.options.initializationOptions.deep, true);
});

test('lenses become commands of ioxide', async () => {
  const seen = await activated({ path: 'ioxide', sut: 'model:a b.iox' });
  await seen.commands['ioxide.test']({ file: '/m/a.iox', tester: 'test:in and out' });
  await seen.commands['ioxide.step']({ file: '/m/a.iox', at: 'idle' });
  assert.deepEqual(seen.sent, [
    `ioxide test /m/a.iox --sut 'model:a b.iox' --tester 'test:in and out' --report runs`,
    'ioxide step /m/a.iox --at idle',
  ]);
});

test('the grammar is one, and its patterns are regular expressions', () => {
  const grammar = JSON.parse(fs.readFileSync(path.join(root, 'syntaxes', 'ioxide.tmLanguage.json'), 'utf8'));
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (node === null || typeof node !== 'object') return;
    for (const key of ['match', 'begin', 'end']) if (node[key]) new RegExp(node[key]);
    if (node.include) assert.ok(grammar.repository[node.include.slice(1)], node.include);
    Object.values(node).forEach(visit);
  };
  visit(grammar);
});

const there = (() => {
  try {
    execFileSync(program, ['--version']);
    return true;
  } catch {
    return false;
  }
})();

test('the picture of a model is shown in a panel', { skip: !there && 'there is no ioxide program' }, async () => {
  const seen = await activated();
  const file = path.join(root, '..', '..', 'examples', 'adder.iox');
  await seen.commands['ioxide.show']({ file });
  assert.deepEqual(seen.errors, []);
  assert.match(seen.panels[0].webview.html, /<svg[\s>]/);
});

test('a record that is not there is told', { skip: !there && 'there is no ioxide program' }, async () => {
  const seen = await activated();
  await seen.commands['ioxide.report']({ file: path.join(root, 'a.iox'), record: '/nowhere/runs' });
  assert.match(seen.errors[0], /cannot read the record/);
});

test('the report of a campaign is shown in a panel', { skip: !there && 'there is no ioxide program' }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ioxide-test-'));
  try {
    const file = path.join(folder, 'adder.iox');
    fs.copyFileSync(path.join(root, '..', '..', 'examples', 'adder.iox'), file);
    execFileSync(
      program,
      ['test', 'adder.iox', '--sut', 'model:adder.iox', '--runs', '1', '--seed', '1', '--report', 'runs'],
      { cwd: folder },
    );
    const seen = await activated();
    await seen.commands['ioxide.report']({ file });
    assert.deepEqual(seen.errors, []);
    assert.match(seen.panels[0].webview.html, /ioxide-report/);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
