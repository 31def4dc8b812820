// The extension: a language client for `ioxide lsp`, and commands that run `ioxide` for a lens or a menu.
'use strict';

const { execFile } = require('node:child_process');
const fs = require('node:fs/promises');
const os = require('node:os');
const path = require('node:path');
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

/** @type {LanguageClient | undefined} */
let client;

/** The settings of this extension. */
function settings() {
  return vscode.workspace.getConfiguration('ioxide');
}

/** Starts the language server. */
async function start() {
  const program = settings().get('path', 'ioxide');
  const server = { command: program, args: ['lsp'] };
  client = new LanguageClient(
    'ioxide',
    'ioxide',
    { run: server, debug: server },
    {
      documentSelector: [{ language: 'ioxide' }, { pattern: '**/*.as' }],
      initializationOptions: { deep: settings().get('deep', true) },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `ioxide: the language server does not start (${error.message}). Install ioxide, or set "ioxide.path".`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

/** The file that a lens names, else the one in the editor. */
function fileOf(argument) {
  return argument?.file ?? vscode.window.activeTextEditor?.document.uri.fsPath;
}

/** Runs `ioxide` and gives what it prints. */
function ioxide(args, cwd) {
  const program = settings().get('path', 'ioxide');
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr.trim() || error.message));
      else resolve(stdout);
    });
  });
}

/** One argument of a command in a terminal. */
function quoted(text) {
  if (/^[A-Za-z0-9_./:=@,-]+$/.test(text)) return text;
  return process.platform === 'win32' ? `"${text.replace(/"/g, '\\"')}"` : `'${text.replace(/'/g, `'\\''`)}'`;
}

/** Runs `ioxide` in a terminal, in the folder of the workspace. */
function inTerminal(args, file) {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.uri.fsPath ?? path.dirname(file);
  const name = 'ioxide';
  const terminal = vscode.window.terminals.find((one) => one.name === name) ??
    vscode.window.createTerminal({ name, cwd: folder });
  terminal.show(true);
  terminal.sendText([settings().get('path', 'ioxide'), ...args].map(quoted).join(' '));
}

/** A page in a panel beside the editor. */
function panel(kind, title, html, scripts) {
  const page = vscode.window.createWebviewPanel(kind, title, vscode.ViewColumn.Beside, { enableScripts: scripts });
  page.webview.html = html;
  return page;
}

/** The picture of a model in a page that can hold nothing else. */
function pictured(svg) {
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  return `<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>body { background: #fff; margin: 0; padding: 1em } svg { max-width: 100%; height: auto }</style></head>
<body>${svg}</body></html>`;
}

/** Shows the picture of the model, again each time it is saved. */
async function show(context, argument) {
  const file = fileOf(argument);
  if (!file) return;
  const draw = () => ioxide(['show', file, '--format', 'svg'], path.dirname(file)).then(pictured);
  try {
    const page = panel('ioxide.picture', path.basename(file), await draw(), false);
    const saved = vscode.workspace.onDidSaveTextDocument(async (document) => {
      if (document.uri.fsPath !== file) return;
      // A text with errors has no picture: the last one stays.
      const html = await draw().catch(() => undefined);
      if (html) page.webview.html = html;
    });
    page.onDidDispose(() => saved.dispose());
    context.subscriptions.push(saved);
  } catch (error) {
    vscode.window.showErrorMessage(`ioxide: ${error.message}`);
  }
}

/** Shows the report of a record: the one of a lens, else the newest in the folder of the settings. */
async function report(argument) {
  const file = fileOf(argument);
  if (!file) return;
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.uri.fsPath ?? path.dirname(file);
  const record = argument?.record ?? path.join(folder, settings().get('report', 'runs'));
  const place = await fs.mkdtemp(path.join(os.tmpdir(), 'ioxide-'));
  const html = path.join(place, 'report.html');
  try {
    await ioxide(['report', record, '--html', html], folder);
    panel('ioxide.report', `Report on ${path.basename(file)}`, await fs.readFile(html, 'utf8'), true);
  } catch (error) {
    vscode.window.showErrorMessage(`ioxide: ${error.message}`);
  } finally {
    await fs.rm(place, { recursive: true, force: true });
  }
}

/** Tests a system against the model, with the tester of a lens or the usual one. */
async function test(argument) {
  const file = fileOf(argument);
  if (!file) return;
  const sut = settings().get('sut', '') || (await vscode.window.showInputBox({
    prompt: 'The system to test: model:FILE, stdio:COMMAND, tcp:ADDR, or a name from ioxide.toml',
    value: `model:${file}`,
  }));
  if (!sut) return;
  const tester = argument?.tester ? ['--tester', argument.tester] : [];
  inTerminal(['test', file, '--sut', sut, ...tester, '--report', settings().get('report', 'runs')], file);
}

function step(argument) {
  const file = fileOf(argument);
  if (file) inTerminal(['step', file, ...(argument?.at ? ['--at', argument.at] : [])], file);
}

async function activate(context) {
  const command = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  command('ioxide.show', (argument) => show(context, argument));
  command('ioxide.report', report);
  command('ioxide.test', test);
  command('ioxide.step', step);
  command('ioxide.restart', () => stop().then(start));
  await start();
}

module.exports = { activate, deactivate: stop };
