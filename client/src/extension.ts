import { execFile } from 'node:child_process';
import fs from 'node:fs';
import * as os from 'node:os';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions } from 'vscode-languageclient/node';
import { Commands } from './commands';
import { atLeast, findServer, MINIMUM_SERVER, type Candidate, type Found, type Run, type Server } from './discovery';
import { Environment } from './environment';
import { Interpreters } from './interpreters';
import { crashed, notFound, notMade, notStarted, tooOld, tried, withoutSecrets } from './messages';
import { coalesced, crashCounter } from './restarts';
import { expandPath, RESTART_KEYS, serverCommand, serverSettings } from './settings';

const SELECTOR = ['file', 'untitled', 'vscode-notebook-cell'].map((scheme) => ({ scheme, language: 'python' }));
const { Information, Warning, Error: Failed } = vscode.LanguageStatusSeverity;
const execute = vscode.commands.executeCommand;
let extension: Extension | undefined;

export function activate(context: vscode.ExtensionContext): void {
  extension = new Extension(context);
  void extension.restart(true);
}

export const deactivate = (): Promise<void> | undefined => extension?.stop();

class Extension {
  private readonly log = vscode.window.createOutputChannel('loaderlint', { log: true });
  private readonly status = vscode.languages.createLanguageStatusItem('loaderlint', SELECTOR);
  private readonly interpreters: Interpreters;
  private readonly environment: Environment | undefined;
  private readonly commands = new Commands(() => this.ready(), this.log);
  private readonly update = coalesced(() => this.start());
  private starting: Promise<void> | undefined;
  private client: LanguageClient | undefined;
  private found: Found = { failures: [] };
  private running = ''; // what the running server was started with
  private forced = false;

  constructor(private readonly context: vscode.ExtensionContext) {
    const { subscriptions, extensionUri, globalStorageUri } = context;
    const dist = vscode.Uri.joinPath(extensionUri, 'dist').fsPath;
    const wheel = fs.readdirSync(dist).find((name) => name.endsWith('.whl'));
    this.environment = wheel ? new Environment(globalStorageUri.fsPath, `${dist}/${wheel}`, run, (text) => this.log.info(text)) : undefined;
    this.interpreters = new Interpreters(this.log, () => this.restart(false), subscriptions);
    this.status.command = { command: 'loaderlint.restart', title: 'Restart' };
    subscriptions.push(
      this.log,
      this.status,
      ...this.commands.register(),
      vscode.commands.registerCommand('loaderlint.restart', () => this.restart(true)),
      vscode.commands.registerCommand('loaderlint.showLogs', () => this.log.show()),
      vscode.commands.registerCommand('loaderlint.debugInformation', () => this.showDebugInformation()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.restart(true)),
      vscode.workspace.onDidChangeConfiguration(
        (event) => RESTART_KEYS.some((key) => event.affectsConfiguration(key)) && this.restart(false),
      ),
    );
  }

  /** Look for the server again, and start it if it is another one or, with `force`, in any case. */
  restart(force: boolean): Promise<void> {
    this.forced ||= force;
    return (this.starting = this.update());
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.running = '';
    // A client whose start failed rejects; there is nothing left to stop then.
    await client?.dispose().catch((error: unknown) => this.log.debug(String(error)));
  }

  /** The client when the server runs; if it does not, it is tried once more, so that the user sees why. */
  private async ready(): Promise<LanguageClient | undefined> {
    await this.starting;
    if (!this.client) await this.restart(true);
    return this.client;
  }

  private async start(): Promise<void> {
    const forced = this.forced;
    this.forced = false;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const section = vscode.workspace.getConfiguration('loaderlint', folder);
    const command = serverCommand(section.get('server.path'), os.homedir(), folder?.fsPath);
    const candidates = (): AsyncGenerator<Candidate> => this.candidates(folder, section.get<string | null>('interpreter') ?? '');
    this.found = command
      ? { server: { origin: 'the setting loaderlint.server.path', command }, failures: [] }
      : await findServer(candidates(), run);
    // Whoever agreed to an environment of ours agreed to it for the next version of the extension, too.
    if (!this.found.server && this.environment?.isOutdated) {
      if (!(await this.make())) return;
      this.found = await findServer(candidates(), run);
    }
    const { server } = this.found;
    if (!server) return this.reportNotFound();
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
    if (this.environment) yield* this.environment.candidates();
    for (const name of ['python3', 'python']) yield { origin: `${name} on the PATH`, command: [name] };
  }

  private async launch(server: Server, interpreter: string | null): Promise<void> {
    const [program = '', ...args] = server.command;
    this.log.info(`Starting ${server.command.join(' ')} (${server.origin})`);
    Object.assign(this.status, { severity: Information, text: 'loaderlint is starting', detail: server.origin, busy: true });
    void execute('setContext', 'loaderlint.showsWorkspace', false);
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
      initializationOptions: { interpreter, settings: settings(), commands: ['loaderlint.showWorkerMap'] },
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

  private async reportNotFound(): Promise<void> {
    await this.stop();
    const { failures } = this.found;
    const asks = this.environment !== undefined && failures.some((failure) => failure.usable);
    this.report(notFound(failures, vscode.workspace.isTrusted, asks), {
      ...(asks && { 'Set Up': () => this.setUp() }),
      'Choose Interpreter': choose,
    });
  }

  private async setUp(): Promise<void> {
    if (await this.make()) await this.restart(true);
  }

  /** Make the environment of our own; whether it is there now. */
  private async make(): Promise<boolean> {
    const stop = new AbortController();
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: 'loaderlint: setting up its environment' };
    const pythons = this.found.failures.flatMap(({ usable }) => usable ?? []);
    try {
      await vscode.window.withProgress(options, (_, cancelled) => {
        cancelled.onCancellationRequested(() => stop.abort());
        return this.environment!.make([...new Set(pythons)], stop.signal);
      });
      return true;
    } catch (error) {
      this.report(notMade((error as Error).message), { 'Try Again': () => this.setUp(), 'Choose Interpreter': choose });
      return false;
    }
  }

  /** Say that the server is off, and offer the next steps. */
  private report(message: string, steps: Record<string, () => unknown> = {}): void {
    this.log.error(message);
    Object.assign(this.status, { severity: Failed, text: 'loaderlint is not running', detail: message, busy: false });
    this.running = '';
    const all: typeof steps = {
      ...steps,
      'Open Settings': () => execute('workbench.action.openSettings', 'loaderlint'),
      'Show Logs': () => this.log.show(),
    };
    void vscode.window.showErrorMessage(message, ...Object.keys(all)).then((step) => step && all[step]?.());
  }

  private async showDebugInformation(): Promise<void> {
    await this.starting;
    const { extension: { packageJSON, extensionKind }, globalStorageUri } = this.context;
    const { server, failures } = this.found;
    const settings = (folder?: vscode.WorkspaceFolder): string => JSON.stringify(vscode.workspace.getConfiguration('loaderlint', folder));
    const lines = [
      '# loaderlint: debug information\n\n## Editor\n',
      `- extension ${packageJSON.version} (kind ${extensionKind}), ${vscode.env.appName} ${vscode.version}, ${os.platform()} ${os.arch()} ${os.release()}`,
      `- remote: ${vscode.env.remoteName ?? 'none'}; workspace ${vscode.workspace.isTrusted ? 'trusted' : 'not trusted'}; storage \`${globalStorageUri.fsPath}\``,
      `- status: ${this.status.text} (${this.status.detail})`,
      `- server: ${server ? `\`${server.command.join(' ')}\`, version ${server.version ?? 'not asked'}, from ${server.origin}` : 'none'}`,
      ...tried(failures).map((text) => `- not used: ${text}`),
      ...(vscode.workspace.workspaceFolders ?? [undefined]).map((folder) => `- settings in ${folder?.uri.fsPath ?? 'no folder'}: \`${settings(folder)}\``),
    ];
    const told = await this.client?.sendRequest<{ text: string }>('loaderlint/debugInformation', {}).catch((error: unknown) => ({ text: String(error) }));
    const text = `${lines.join('\n')}\n\n${told?.text ?? 'The server does not run.\n'}`;
    await this.commands.show('debug information.md', { text: withoutSecrets(text, os.homedir()) });
  }
}

/** Let the user select an interpreter, with whichever extension can do that, else in our own setting. */
async function choose(): Promise<void> {
  const all = await vscode.commands.getCommands(true);
  const command = ['python-envs.set', 'python.setInterpreter'].find((name) => all.includes(name));
  await (command ? execute(command) : execute('workbench.action.openSettings', 'loaderlint.interpreter'));
}

/** Run a program outside the workspace, so that nothing in there is taken for it. Cold network disks are slow: 30 s. */
const run: Run = async ([program = '', ...args], options = {}) => {
  const defaults = { cwd: os.homedir(), timeout: 30_000, windowsHide: true, maxBuffer: 1 << 24 };
  return (await promisify(execFile)(program, args, { ...defaults, ...options })).stdout;
};
