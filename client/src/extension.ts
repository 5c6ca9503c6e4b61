import { execFile } from 'node:child_process';
import * as os from 'node:os';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions } from 'vscode-languageclient/node';
import { promisify } from 'node:util';
import { atLeast, findServer, MINIMUM_SERVER, type Candidate, type Failure, type Server } from './discovery';
import { Interpreters } from './interpreters';
import { crashed, installLine, notFound, notStarted, tooOld } from './messages';
import { coalesced, crashCounter } from './restarts';
import { expandPath, RESTART_KEYS, serverCommand, serverSettings } from './settings';

const SELECTOR = ['file', 'untitled', 'vscode-notebook-cell'].map((scheme) => ({ scheme, language: 'python' }));
const { Information, Warning, Error: Failed } = vscode.LanguageStatusSeverity;
const execute = vscode.commands.executeCommand;
let extension: Extension | undefined;

export function activate(context: vscode.ExtensionContext): void {
  extension = new Extension(context.subscriptions);
  void extension.restart(true);
}

export const deactivate = (): Promise<void> | undefined => extension?.stop();

class Extension {
  private readonly log = vscode.window.createOutputChannel('loaderlint', { log: true });
  private readonly status = vscode.languages.createLanguageStatusItem('loaderlint', SELECTOR);
  private readonly interpreters: Interpreters;
  private readonly update = coalesced(() => this.start());
  private client: LanguageClient | undefined;
  private running = ''; // what the running server was started with
  private forced = false;

  constructor(subscriptions: vscode.Disposable[]) {
    this.interpreters = new Interpreters(this.log, () => this.restart(false), subscriptions);
    this.status.command = { command: 'loaderlint.restart', title: 'Restart' };
    subscriptions.push(
      this.log,
      this.status,
      vscode.commands.registerCommand('loaderlint.restart', () => this.restart(true)),
      vscode.commands.registerCommand('loaderlint.showLogs', () => this.log.show()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.restart(true)),
      vscode.workspace.onDidChangeConfiguration(
        (event) => RESTART_KEYS.some((key) => event.affectsConfiguration(key)) && this.restart(false),
      ),
    );
  }

  /** Look for the server again, and start it if it is another one or, with `force`, in any case. */
  restart(force: boolean): Promise<void> {
    this.forced ||= force;
    return this.update();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.running = '';
    // A client whose start failed rejects; there is nothing left to stop then.
    await client?.dispose().catch((error: unknown) => this.log.debug(String(error)));
  }

  private async start(): Promise<void> {
    const forced = this.forced;
    this.forced = false;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const section = vscode.workspace.getConfiguration('loaderlint', folder);
    const command = serverCommand(section.get('server.path'), os.homedir(), folder?.fsPath);
    const server: Server | Failure[] = command
      ? { origin: 'the setting loaderlint.server.path', command }
      : await findServer(this.candidates(folder, section.get<string | null>('interpreter') ?? ''), run);
    if (Array.isArray(server)) {
      await this.stop();
      return this.report(notFound(server, vscode.workspace.isTrusted), server);
    }
    // The server reads the files of this environment, and never runs it.
    const interpreter = (await this.interpreters.selected(folder).next()).value?.command[0] ?? null;
    const key = JSON.stringify([server.command, interpreter]);
    if (key === this.running && !forced) return;
    await this.stop();
    await this.launch(server, interpreter);
    if (this.client) this.running = key;
  }

  private async *candidates(folder: vscode.Uri | undefined, setting: string): AsyncGenerator<Candidate> {
    // The selected interpreter may be a program of the workspace: it is not run before the workspace is trusted.
    if (vscode.workspace.isTrusted) yield* this.interpreters.selected(folder);
    const path = expandPath(setting, os.homedir(), folder?.fsPath);
    if (path) yield { origin: 'the setting loaderlint.interpreter', command: [path] };
    for (const name of ['python3', 'python']) yield { origin: `${name} on the PATH`, command: [name] };
  }

  private async launch(server: Server, interpreter: string | null): Promise<void> {
    const [program = '', ...args] = server.command;
    this.log.info(`Starting ${server.command.join(' ')} (${server.origin})`);
    Object.assign(this.status, { severity: Information, text: 'loaderlint is starting', detail: server.origin, busy: true });
    const said = { last: '' };
    const options = this.options(interpreter, said);
    const client = (this.client = new LanguageClient('loaderlint', 'loaderlint', { command: program, args }, options));
    client.error = (text, data) => this.log.error(text, data ?? ''); // its own messages would repeat ours
    try {
      await client.start();
    } catch (error) {
      await this.stop();
      return this.report(notStarted(server, String(error), said.last));
    }
    const version = client.initializeResult?.serverInfo?.version ?? server.version ?? '0';
    const trusted = vscode.workspace.isTrusted;
    const limited = trusted ? '' : '; limited: the workspace is not trusted, so its own interpreter is not run';
    const [severity, detail] = [trusted ? Information : Warning, `${program}, ${server.origin}${limited}`];
    Object.assign(this.status, { severity, text: `loaderlint ${version}`, detail, busy: false });
    if (!atLeast(version, MINIMUM_SERVER)) void vscode.window.showWarningMessage(tooOld(version));
  }

  private options(interpreter: string | null, said: { last: string }): LanguageClientOptions {
    const crashes = crashCounter();
    const settings = (): object => serverSettings(vscode.workspace.getConfiguration().get('loaderlint'));
    return {
      documentSelector: SELECTOR,
      diagnosticPullOptions: { onChange: true, onSave: true, onTabs: true },
      outputChannel: this.log,
      initializationOptions: { interpreter, settings: settings() },
      stdioOptions: {
        stdout: () => undefined, // carries the protocol
        stderr: (stream) => createInterface(stream).on('line', (line) => this.log.error((said.last = line))),
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          // While the server starts, the one who starts it says what is wrong.
          const started = this.client?.isRunning();
          const times = started ? crashes(Date.now()) : 0;
          if (times) this.report(crashed(times, said.last));
          return { action: started && !times ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: {
        workspace: {
          configuration: async (params, token, next) => {
            const values = (await next(params, token)) as unknown[];
            return values.map((value, i) => (params.items[i]?.section === 'loaderlint' ? serverSettings(value) : value));
          },
          didChangeConfiguration: async () =>
            this.client?.sendNotification('workspace/didChangeConfiguration', { settings: { loaderlint: settings() } }),
        },
      },
    };
  }

  /** Say that the server is off, and offer the next step. */
  private report(message: string, failures: readonly Failure[] = []): void {
    this.log.error(message);
    Object.assign(this.status, { severity: Failed, text: 'loaderlint is not running', detail: message, busy: false });
    this.running = '';
    const python = failures.find((failure) => failure.installable)?.installable;
    const steps: Record<string, () => unknown> = {
      ...(python && { 'Install with pip…': () => this.install(python) }),
      ...(failures.length > 0 && { 'Choose Interpreter': choose }),
      'Open Settings': () => execute('workbench.action.openSettings', 'loaderlint'),
      'Show Logs': () => this.log.show(),
    };
    void vscode.window.showErrorMessage(message, ...Object.keys(steps)).then((step) => step && steps[step]?.());
  }

  /** Type the command into a terminal; the user sees into which Python it goes, and runs it or not. */
  private async install(python: string): Promise<void> {
    const terminal = vscode.window.createTerminal('Install loaderlint');
    terminal.show();
    terminal.sendText(installLine(python, vscode.env.shell), false);
    const next = 'Press Enter in the terminal to run the command. When pip is done, restart loaderlint.';
    if (await vscode.window.showInformationMessage(next, 'Restart')) await this.restart(true);
  }
}

/** Let the user select an interpreter, with whichever extension can do that, else in our own setting. */
async function choose(): Promise<void> {
  const all = await vscode.commands.getCommands(true);
  const command = ['python-envs.set', 'python.setInterpreter'].find((name) => all.includes(name));
  await (command ? execute(command) : execute('workbench.action.openSettings', 'loaderlint.interpreter'));
}

/** Run a program outside the workspace, so that nothing in there is taken for it. Cold network disks are slow: 30 s. */
async function run([program = '', ...args]: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program, args, { cwd: os.homedir(), timeout: 30_000, windowsHide: true })).stdout;
}
