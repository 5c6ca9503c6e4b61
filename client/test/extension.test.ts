import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { activate } from '../src/extension';
import { clients } from './fakes/languageclient';
import { CodeAction, EventEmitter, renew, Uri, world } from './fakes/vscode';

// The programs are shell scripts that answer as a Python would.
const options = { skip: process.platform === 'win32' };
const answer = (version: string | null, executable: string): string =>
  `echo 'loaderlint-probe ${JSON.stringify({ python: '3.12.1', executable, version, problem: 'has no loaderlint' })}'`;

/** A machine with one Python on its PATH, which has no loaderlint and makes environments as `make` says. */
class Machine {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loaderlint-client-'));
  readonly storage = path.join(this.folder, 'storage');

  constructor(context: TestContext, make = '/bin/mkdir -p "$5/bin" && /bin/cp "$0.good" "$5/bin/python"') {
    const before = process.env['PATH'];
    context.after(() => {
      process.env['PATH'] = before;
      fs.rmSync(this.folder, { recursive: true });
    });
    process.env['PATH'] = path.join(this.folder, 'bin');
    for (const name of ['bin', 'dist']) fs.mkdirSync(path.join(this.folder, name));
    fs.writeFileSync(path.join(this.folder, 'dist', 'loaderlint-0.1.0-py3-none-any.whl'), 'a wheel');
    const python = path.join(this.folder, 'bin', 'python3');
    this.script(python, `case "$3" in *loaderlint.private*) ${make} ;; *) ${answer(null, python)} ;; esac`);
    this.script(`${python}.good`, answer('0.1.0', 'the private python'));
    clients.length = 0;
    renew();
  }

  script(file: string, body: string): string {
    fs.writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return file;
  }

  /** A Python with loaderlint, as the Python extension selects it; `ran` says whether it was run. */
  select(name: string): { ran: () => boolean; changed: EventEmitter<void> } {
    const trace = path.join(this.folder, `${name}-ran`);
    const file = this.script(path.join(this.folder, name), `echo >'${trace}'; ${answer('0.1.0', name)}`);
    const changed = new EventEmitter<void>();
    const resolveEnvironment = async () => ({ executable: { uri: Uri.file(file) } });
    const environments = { getActiveEnvironmentPath: () => ({}), resolveEnvironment, onDidChangeActiveEnvironmentPath: changed.event };
    world.extensions['ms-python.python'] = { environments };
    return { ran: () => fs.existsSync(trace), changed };
  }

  async start(): Promise<void> {
    const context = { subscriptions: [], extensionUri: Uri.file(this.folder), globalStorageUri: Uri.file(this.storage) };
    const workspaceState = { get: (key: string, usual: unknown) => world.kept.get(key) ?? usual, update: async (key: string, value: unknown) => world.kept.set(key, value) };
    activate({ ...context, workspaceState, extension: { packageJSON: { version: '0.1.0' } } } as never);
    await settled();
  }
}

/** Wait until something came of it: a running server or a message, and nothing under way. */
async function settled(more: () => boolean = () => true): Promise<void> {
  const done = (): boolean => (clients.at(-1)?.running === true || world.messages.length > 0) && more();
  for (let i = 0; i < 1000 && !done(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(done(), JSON.stringify([world.messages, clients.length]));
}

const command = (): string[] => [clients.at(-1)!.server.command, ...clients.at(-1)!.server.args];

test('without a server the user is asked, and Set Up makes an environment and starts it', options, async (context) => {
  const machine = new Machine(context);
  world.answer = ({ steps }) => steps.find((step) => step === 'Set Up');
  await machine.start();
  await settled(() => clients.length > 0);
  assert.deepEqual(world.messages.map(({ severity, steps }) => [severity, steps]), [['information', ['Set Up', 'Choose Interpreter', 'Show Logs']]]);
  assert.match(world.messages[0]!.text, /Set Up creates one/);
  assert.deepEqual(command(), ['the private python', '-I', '-m', 'loaderlint', 'server']);
  assert.match(String(world.status['detail']), /the extension's own environment/);
});

test('who does not answer gets no environment, and is asked again by the next command', options, async (context) => {
  const machine = new Machine(context);
  await machine.start();
  assert.ok(!fs.existsSync(machine.storage));
  assert.deepEqual([world.status['text'], world.status['severity']], ['loaderlint: not set up', 'information']);
  world.editor = { document: { uri: Uri.file('/p/a.py') }, selection: { active: { line: 1, character: 0 } } };
  await world.commands.get('loaderlint.explainLine')!();
  assert.equal(world.messages.length, 2);
  assert.equal(world.shown.length, 0);
});

test('an environment for another version of the extension is remade without asking', options, async (context) => {
  const machine = new Machine(context);
  fs.mkdirSync(path.join(machine.storage, 'server-0.0.1-00000000'), { recursive: true });
  await machine.start();
  assert.deepEqual(world.messages, []);
  assert.equal(command()[0], 'the private python');
});

test('an environment that cannot be made is told once, with the reason and the next step', options, async (context) => {
  const machine = new Machine(context, 'echo "pip failed: no space left" >&2; exit 1');
  fs.mkdirSync(path.join(machine.storage, 'server-0.0.1-00000000'), { recursive: true });
  await machine.start();
  await world.commands.get('loaderlint.debugInformation')!(); // waits for what is under way
  assert.equal(world.messages.length, 1);
  assert.equal(world.messages[0]!.text, 'loaderlint could not be set up: pip failed: no space left');
  assert.equal(world.messages[0]!.steps[0], 'Try Again');
});

test('a workspace that is not trusted runs nothing of its own until it is', options, async (context) => {
  const machine = new Machine(context);
  const selected = machine.select('selected');
  world.trusted = false;
  await machine.start();
  assert.ok(!selected.ran());
  assert.match(world.messages[0]!.text, /not trusted, so its own interpreter was not tried/);
  world.trusted = true;
  world.trust.fire();
  await settled(() => clients.length > 0);
  assert.equal(command()[0], 'selected');
});

test('the server runs outside a workspace that is not trusted', options, async (context) => {
  const machine = new Machine(context);
  machine.script(path.join(machine.folder, 'bin', 'python3'), answer('0.1.0', 'python of the PATH'));
  world.trusted = false;
  await machine.start();
  assert.equal(clients.at(-1)!.server.options?.cwd, os.homedir());
  world.trusted = true;
  world.trust.fire();
  await settled(() => clients.length > 1);
  assert.equal(clients.at(-1)!.server.options, undefined);
});

test('another interpreter means another server, the same one does not', options, async (context) => {
  const machine = new Machine(context);
  const { changed } = machine.select('first');
  await machine.start();
  changed.fire();
  changed.fire();
  await world.commands.get('loaderlint.debugInformation')!(); // waits for what is under way
  assert.equal(clients.length, 1);
  machine.select('second');
  changed.fire();
  await settled(() => clients.length === 2);
  assert.equal(command()[0], 'second');
  assert.ok(!clients[0]!.running && clients[1]!.options.initializationOptions().interpreter?.endsWith('/second'));
});

test('a server that is named in the settings is started as it is', options, async (context) => {
  const machine = new Machine(context);
  world.settings['server.path'] = '${workspaceFolder}/loaderlint';
  await machine.start();
  assert.deepEqual(command(), ['/nowhere/loaderlint', 'server']);
  world.settings['server.args'] = ['-I', '-m', 'loaderlint', 'server'];
  await world.commands.get('loaderlint.restart')!();
  assert.deepEqual(command(), ['/nowhere/loaderlint', '-I', '-m', 'loaderlint', 'server']);
});

test('the server is asked about the line of the cursor, and its answer has links', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  const text = '# data.py:3\n- by /opt/other.py:12 > b, 3.py: 1, draw.ipynb:cell 2:4\n';
  clients[0]!.answers['loaderlint/explain'] = { text, folder: 'file:///p' };
  world.editor = { document: { uri: Uri.file('/p/data.py') }, selection: { active: { line: 2, character: 4 } } };
  await world.commands.get('loaderlint.explainLine')!();
  const params = { textDocument: { uri: 'file:///p/data.py' }, position: { line: 2, character: 4 }, format: 'markdown' };
  assert.deepEqual(clients[0]!.asked, [['loaderlint/explain', params]]);
  const [uri] = world.shown;
  assert.equal(uri!.path, '/explanation (data.py line 3).md');
  assert.equal(await world.content!.provideTextDocumentContent(uri!), text);
  const links = world.links!.provideDocumentLinks({ uri, getText: () => text, positionAt: (at: number) => at });
  assert.deepEqual(links.map(({ target }) => `${target.path}#${target.fragment}`), ['/p/data.py#L3', '/opt/other.py#L12', '/p/draw.ipynb#L4']);
});

test("a rule's page is a document in the preview, also in the next session", options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  clients[0]!.answers['loaderlint/page'] = { text: '# shared-generator\n' };
  await world.commands.get('loaderlint.showPage')!('shared-generator');
  const [command, uri] = world.executed.at(-1)!;
  assert.equal(command, 'markdown.showPreviewToSide');
  assert.equal(await world.content!.provideTextDocumentContent(uri as Uri), '# shared-generator\n');
  assert.deepEqual(clients[0]!.asked, [['loaderlint/page', { rule: 'shared-generator' }]]);
});

test('What If asks the server about the chosen changes and shows what it tells', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  const run = () => world.commands.get('loaderlint.askWhatIf')!();
  const client = clients[0]!;
  client.answers['workspace/executeCommand'] = { text: '# What if\n', folder: `file://${machine.folder}` };
  await run();
  world.choose = () => ['torch=...'];
  await run();
  assert.deepEqual([client.asked, world.shown], [[], []], 'nothing was chosen, or nothing written');
  world.choose = (labels) => labels.filter((label) => ['python=3.14', 'torch=...'].includes(label));
  world.write = (begun) => `${begun}2.9`;
  await run();
  assert.deepEqual(client.asked, [['workspace/executeCommand', { command: 'loaderlint.whatIf', arguments: ['python=3.14,torch=2.9', 'markdown'] }]]);
  assert.equal(world.shown.at(-1)!.path, '/what if python=3.14,torch=2.9.md');
  assert.equal(await world.content!.provideTextDocumentContent(world.shown.at(-1)!), '# What if\n');
});

test('a comparison that the user cancels is not told as an error', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  world.choose = () => ['start-method=spawn'];
  clients[0]!.sendRequest = async () => {
    world.cancelled.fire();
    throw new Error('cancelled');
  };
  await world.commands.get('loaderlint.askWhatIf')!();
  assert.deepEqual([world.messages, world.shown], [[], []]);
});

test('what the server refuses is told, and what the user cancels is not', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  clients[0]!.answers['loaderlint/workers'] = new Error('no folder is open');
  await world.commands.get('loaderlint.showWorkerMap')!();
  assert.deepEqual(world.messages.map(({ text: said }) => said), ['loaderlint: no folder is open']);
  clients[0]!.sendRequest = async () => {
    world.cancelled.fire();
    throw new Error('cancelled');
  };
  await world.commands.get('loaderlint.checkWorkspace')!();
  assert.equal(world.messages.length, 1);
});

test('a server that stops too often is told by its own words, and Restart starts it', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  world.answer = ({ steps }) => steps.find((step) => step === 'Restart');
  for (let i = 1; i <= 5; i++) {
    const { stdioOptions, errorHandler } = clients.at(-1)!.options;
    const stream = new PassThrough();
    stdioOptions.stderr(stream);
    stream.end(`MemoryError: number ${i}\n`);
    await errorHandler.closed();
    if (i < 5) await settled(() => clients.length === i + 1);
  }
  assert.deepEqual(world.messages.map(({ severity, steps }) => [severity, steps]), [['error', ['Restart', 'Show Logs']]]);
  assert.match(world.messages[0]!.text, /stopped 5 times .* Its last error: MemoryError: number 5$/);
  await settled(() => clients.length === 6);
});

test('the status is short while the server runs, with Restart beside it', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  const { text, detail, command } = world.status as { text: string; detail: string; command: { title: string } };
  assert.deepEqual([text, detail, command.title], ['loaderlint: 0.1.0', 'the selected interpreter', 'Restart']);
});

test('loaderlint.enable turns it off and on', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  world.settings['enable'] = false;
  world.configured.fire({ affectsConfiguration: (key) => key === 'loaderlint.enable' });
  await world.commands.get('loaderlint.debugInformation')!(); // waits for what is under way
  assert.equal(clients[0]!.running, false);
  assert.equal(world.status['text'], 'loaderlint: off');
  world.answer = ({ steps }) => steps.find((step) => step === 'Turn On');
  await world.commands.get('loaderlint.showWorkerMap')!();
  await settled(() => clients.length === 2);
  assert.equal(world.settings['enable'], true);
});

test('what is shown of the workspace is remembered', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  const mode = () => clients.at(-1)!.options.initializationOptions().diagnosticMode;
  assert.equal(mode(), undefined);
  clients[0]!.answers['loaderlint/checkWorkspace'] = { message: 'loaderlint: 3 findings in 2 files' };
  await world.commands.get('loaderlint.checkWorkspace')!();
  await world.commands.get('loaderlint.restart')!();
  assert.equal(mode(), 'workspace');
  assert.deepEqual(world.executed.at(-1), ['setContext', 'loaderlint.showsWorkspace', true]);
  await world.commands.get('loaderlint.showOpenFilesOnly')!();
  await world.commands.get('loaderlint.restart')!();
  assert.equal(mode(), undefined);
});

test('all fixes of the workspace are one request, and can be saved', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  clients[0]!.answers['loaderlint/fixWorkspace'] = { files: 2, message: 'loaderlint: 2 files edited' };
  world.answer = ({ steps }) => steps[0];
  await world.commands.get('loaderlint.fixWorkspace')!();
  assert.deepEqual(world.messages.map(({ text, steps }) => [text, steps]), [['loaderlint: 2 files edited', ['Save All']]]);
  assert.equal(world.saved, 1);
  clients[0]!.answers['loaderlint/fixWorkspace'] = { files: 0, message: 'loaderlint: nothing' };
  await world.commands.get('loaderlint.fixWorkspace')!();
  assert.deepEqual(world.messages.at(-1)!.steps, []);
});

test('debug information says what was tried, and no home folder', options, async (context) => {
  const machine = new Machine(context);
  world.settings['server.path'] = `${os.homedir()}/bin/loaderlint`;
  await machine.start();
  clients[0]!.answers['loaderlint/debugInformation'] = { text: '## Server\n' };
  await world.commands.get('loaderlint.debugInformation')!();
  const text = await world.content!.provideTextDocumentContent(world.shown[0]!);
  assert.match(text, /- server: `~\/bin\/loaderlint server` from the setting/);
  assert.match(text, /## Server/);
  assert.ok(!text.includes(os.homedir()));
});

test('a notebook whose first cell is Markdown is asked about at its first cell of Python', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  const cells = ['markdown', 'raw', 'python', 'python'].map((languageId) => ({ document: { languageId } }));
  const other = { document: { languageId: 'markdown' } };
  world.notebooks = [[other], cells].map((all) => ({ getCells: () => all }));
  const asked: unknown[] = [];
  clients.at(-1)!.provider = {
    provideCodeActions: async (...about: unknown[]) => asked.push(about[0], about[2]) && [new CodeAction('fix all'), { command: 'x' }],
    resolveCodeAction: async ({ title }: CodeAction) => new CodeAction(title, 'the edit'),
  };
  const actions = (cell: { document: unknown }, only?: string) =>
    world.actions!.provideCodeActions(cell.document, undefined, { only, diagnostics: ['of Markdown'] }, undefined);
  const [action] = (await actions(cells[0]!, 'notebook')) as CodeAction[];
  assert.deepEqual(await world.actions!.resolveCodeAction(action), new CodeAction('fix all', 'the edit'));
  assert.deepEqual(asked, [cells[2]!.document, { only: 'notebook', diagnostics: [] }]);
  // The light bulb; a cell for which the server is asked itself; a notebook without Python.
  assert.deepEqual(await actions(cells[0]!), []);
  assert.deepEqual(await actions(cells[2]!, 'notebook'), []);
  assert.deepEqual(await actions(other, 'notebook'), []);
  assert.equal(asked.length, 2);
});

test('the language of a first cell is activated before a save asks for actions there', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  const open = (languageId: string) => world.opened.fire({ getCells: () => [{ document: { languageId, uri: languageId } }] });
  const before = world.executed.length;
  open('markdown');
  world.settings['codeActionsOnSave'] = { 'notebook.source.fixAll.loaderlint': 'explicit' };
  open('python');
  open('markdown');
  assert.deepEqual(world.executed.slice(before), [['vscode.executeDocumentSymbolProvider', 'markdown']]);
});

test('an audit is typed into a terminal, for the user to run', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  await world.commands.get('loaderlint.audit')!('file:///nowhere/src/train.py');
  const python = path.join(machine.folder, 'selected');
  assert.deepEqual(world.typed, [{ text: `${python} -m loaderlint audit src/train.py `, cwd: '/nowhere', ran: false }]);
  world.editor = { document: { uri: Uri.file('/else where/train.py') } };
  world.extensions = {};
  await world.commands.get('loaderlint.audit')!();
  assert.deepEqual(world.typed[1], { text: 'python3 -m loaderlint audit "/else where/train.py" ', cwd: undefined, ran: false });
});

test('nothing is audited in a workspace that is not trusted, or without a program', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  await world.commands.get('loaderlint.audit')!();
  world.editor = { document: { uri: Uri.from({ scheme: 'untitled', path: 'Untitled-1' }) } };
  await world.commands.get('loaderlint.audit')!();
  world.trusted = false;
  await world.commands.get('loaderlint.audit')!('file:///nowhere/train.py');
  const said = ['first open the program that creates the loaders', 'first open the program that creates the loaders',
    'an audit runs your program, so trust the workspace first'];
  assert.deepEqual(world.messages.map(({ text }) => text), said.map((one) => `loaderlint: ${one}`));
  assert.deepEqual(world.typed, []);
});

test('the server offers audits in trusted workspaces, unless a setting turns them off', options, async (context) => {
  const machine = new Machine(context);
  machine.script(path.join(machine.folder, 'bin', 'python3'), answer('0.1.0', 'python of the PATH'));
  world.trusted = false;
  await machine.start();
  const offers = () => clients.at(-1)!.options.initializationOptions().commands.includes('loaderlint.audit');
  assert.equal(offers(), false);
  world.trusted = true;
  world.trust.fire();
  await settled(() => clients.length === 2);
  assert.equal(offers(), true);
  world.settings['auditLens'] = false;
  world.configured.fire({ affectsConfiguration: (key) => key === 'loaderlint.auditLens' });
  await settled(() => clients.length === 3);
  assert.equal(offers(), false);
});

test('a message of a worker in a terminal leads to what is behind it, also where nothing is trusted', options, async (context) => {
  const machine = new Machine(context);
  machine.script(path.join(machine.folder, 'bin', 'python3'), answer('0.1.0', 'python of the PATH'));
  world.trusted = false;
  await machine.start();
  const client = clients[0]!;
  client.answers['loaderlint/symptom'] = { text: '# Bad CRC-32\n', folder: null };
  const [link] = await world.terminals!.provideTerminalLinks({ line: '  BadZipFile: Bad CRC-32  ' }, undefined);
  assert.deepEqual([link!.startIndex, link!.length], [2, 22]);
  assert.deepEqual(client.asked, [['loaderlint/symptom', { text: 'BadZipFile: Bad CRC-32' }]]);
  await world.terminals!.handleTerminalLink(link);
  const [command, uri] = world.executed.at(-1)!;
  assert.equal(command, 'markdown.showPreviewToSide');
  assert.equal(await world.content!.provideTextDocumentContent(uri as Uri), '# Bad CRC-32\n');
  assert.deepEqual([world.typed, world.messages], [[], []]);
});

test('a line of a terminal is no link without a server, or if the server does not know it', options, async (context) => {
  const machine = new Machine(context);
  machine.select('selected');
  await machine.start();
  const client = clients[0]!;
  const links = (line: string) => world.terminals!.provideTerminalLinks({ line }, undefined);
  client.answers['loaderlint/symptom'] = null;
  assert.deepEqual(await links('epoch 1: loss 0.5'), []);
  client.answers['loaderlint/symptom'] = new Error('an older server has no such request');
  assert.deepEqual(await links('Bad CRC-32'), []);
  client.answers['loaderlint/symptom'] = { text: '# Bad CRC-32\n', folder: null };
  const asked = client.asked.length;
  assert.deepEqual(await links('   '), []);
  world.settings['enable'] = false;
  world.configured.fire({ affectsConfiguration: (key) => key === 'loaderlint.enable' });
  await world.commands.get('loaderlint.debugInformation')!(); // waits for what is under way
  assert.deepEqual(await links('Bad CRC-32'), []);
  assert.deepEqual([client.asked.slice(asked), world.messages], [[], []]);
});
