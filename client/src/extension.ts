import { execFile } from 'node:child_process';
import fs from 'node:fs';
import * as os from 'node:os';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LanguageClient, type LanguageClientOptions } from 'vscode-languageclient/node';
import { offersAudits, typeAudit } from './audits';
import { coalesced } from './coalesced';
import { Commands } from './commands';
import { crashCounter } from './crash_counter';
import { atLeast, findServer, MINIMUM_SERVER, type Candidate, type Found, type Run, type Server } from './discovery';
import { Environment } from './environment';
import { Interpreters } from './interpreters';
import { crashed, notFound, notStarted, offer, tooOld, tried } from './messages';
import { NotebookActions } from './notebooks';
import { expandPath, RESTART_KEYS, serverCommand } from './settings';
import { createStatus, show } from './status';
import { Stderr } from './stderr';

const SELECTOR = ['file', 'untitled', 'vscode-notebook-cell'].map((scheme) => ({ scheme, language: 'python' }));
const { Information, Warning, Error: Failed } = vscode.LanguageStatusSeverity;
const { executeCommand: execute, registerCommand } = vscode.commands;
const { window, workspace, env } = vscode;
/** The key of the workspace state that says whether the findings of all files are shown. */
const SHOWS_WORKSPACE = 'showsWorkspace';
let extension: Extension | undefined;

export function activate(context: vscode.ExtensionContext): void {
  extension = new Extension(context);
  void extension.restart(true);
}

export const deactivate = (): Promise<void> | undefined => extension?.stop();

class Extension {
  private readonly log = window.createOutputChannel('loaderlint', { log: true });
  private readonly status = createStatus(SELECTOR);
  private readonly commands = new Commands(() => this.ready(), () => this.client, (shows) => this.remember(shows), (uri) => typeAudit(uri, this.python));
  private readonly interpreters: Interpreters;
  private readonly environment: Environment | undefined;
  private readonly update = coalesced(() => this.start());
  private starting: Promise<void> | undefined;
  private client: LanguageClient | undefined;
  private stderr: Stderr | undefined;
  private found: Found = { failures: [] };
  private running = ''; // the configuration of the running server
  private forced = false;
  private launching = false;
  private crashes = crashCounter();

  constructor(private readonly context: vscode.ExtensionContext) {
    const { subscriptions, extensionUri, globalStorageUri } = context;
    const dist = vscode.Uri.joinPath(extensionUri, 'dist').fsPath;
    const wheel = fs.readdirSync(dist).find((name) => name.endsWith('.whl'));
    this.environment = wheel ? new Environment(globalStorageUri.fsPath, `${dist}/${wheel}`, run, (text) => this.log.info(text)) : undefined;
    this.interpreters = new Interpreters(this.log, () => this.restart(false), subscriptions);
    const isOurs = (event: vscode.ConfigurationChangeEvent): boolean => RESTART_KEYS.some((key) => event.affectsConfiguration(key));
    subscriptions.push(
      this.log,
      this.status,
      ...this.commands.register(),
      ...new NotebookActions(() => this.client).register(),
      registerCommand('loaderlint.restart', () => this.restartAfresh()),
      registerCommand('loaderlint.showLogs', () => this.log.show()),
      registerCommand('loaderlint.debugInformation', () => this.showDebugInformation()),
      workspace.onDidGrantWorkspaceTrust(() => this.restart(true)),
      workspace.onDidChangeConfiguration((event) => isOurs(event) && this.restart(false)),
    );
  }

  /** Restart at the user's request: earlier crashes no longer count. */
  private restartAfresh(): Promise<void> {
    this.crashes = crashCounter();
    return this.restart(true);
  }

  /** Search for the server again, and start it if it is a different one or, with `force`, in any case. */
  restart(force: boolean): Promise<void> {
    this.forced ||= force;
    return (this.starting = this.update());
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.running = '';
    // A client whose start failed rejects; then there is nothing to stop.
    await client?.dispose().catch((error: unknown) => this.log.debug(String(error)));
  }

  /** The client if the server runs; otherwise the start is tried once more, so that the user sees why it fails. */
  private async ready(): Promise<LanguageClient | undefined> {
    await this.starting;
    if (!this.isEnabled()) this.offerToEnable();
    else if (!this.client?.isRunning()) await this.restart(true);
    return this.client;
  }

  private async start(): Promise<void> {
    const forced = this.forced;
    this.forced = false;
    const folder = workspace.workspaceFolders?.[0]?.uri;
    if (!this.isEnabled()) return this.stop().then(() => show(this.status, Information, 'off', 'the setting loaderlint.enable'));
    this.found = await this.find(folder);
    // A user who agreed to our environment agreed to it for the next version of the extension, too.
    if (!this.found.server && this.environment?.isOutdated) {
      if (!(await this.make())) return this.stop();
      this.found = await this.find(folder);
    }
    const { server } = this.found;
    if (!server) return this.stop().then(() => this.reportNotFound());
    // The server reads the files of this environment, and never runs it.
    const interpreter = (await this.python(folder))?.[0] ?? null;
    const key = JSON.stringify([server.command, interpreter, offersAudits()]);
    if (key === this.running && !forced) return;
    await this.stop();
    await this.launch(server, interpreter);
    if (this.client) this.running = key;
  }

  private async find(folder: vscode.Uri | undefined): Promise<Found> {
    const section = workspace.getConfiguration('loaderlint', folder);
    const [program, args] = [section.get('server.path', ''), section.get<string[]>('server.args', ['server'])];
    const command = serverCommand(program, args, os.homedir(), folder?.fsPath);
    if (command) return { server: { origin: 'the setting loaderlint.server.path', command }, failures: [] };
    const interpreter = expandPath(section.get('interpreter', ''), os.homedir(), folder?.fsPath);
    return findServer(this.candidates(folder, interpreter), run);
  }

  private async *candidates(folder: vscode.Uri | undefined, setting: string): AsyncGenerator<Candidate> {
    // The selected interpreter may be a program in the workspace: it is not run unless the workspace is trusted.
    if (workspace.isTrusted) yield* this.interpreters.selected(folder);
    if (setting) yield { origin: 'the setting loaderlint.interpreter', command: [setting] };
    if (this.environment) yield* this.environment.candidates();
    // On Windows `python3` may be a link to the Microsoft Store, and Python itself installs `py`.
    for (const name of process.platform === 'win32' ? ['python', 'py'] : ['python3', 'python']) yield { origin: `${name} on the PATH`, command: [name] };
  }

  private async launch(server: Server, interpreter: string | null): Promise<void> {
    const [program = '', ...args] = server.command;
    this.log.info(`Starting ${server.command.join(' ')} (${server.origin})`);
    show(this.status, Information, 'starting', server.origin, true);
    void this.remember(this.showsWorkspace());
    // Windows searches the working directory for the program, and the client would choose the workspace.
    const executable = { command: program, args, ...(!workspace.isTrusted && { options: { cwd: os.homedir() } }) };
    const client = (this.client = new LanguageClient('loaderlint', 'loaderlint', executable, this.options(interpreter)));
    client.error = (text, data) => this.log.error(text, data ?? ''); // the client's own messages would repeat ours
    this.launching = true;
    try {
      await client.start();
    } catch (error) {
      await this.stop();
      const reason = (await this.stderr?.reason()) ?? '';
      return this.report(Failed, 'did not start', notStarted(server, String(error), reason), { Restart: () => this.restartAfresh() });
    } finally {
      this.launching = false;
    }
    const version = client.initializeResult?.serverInfo?.version ?? server.version ?? '0';
    const [severity, detail] = workspace.isTrusted ? [Information, server.origin] : [Warning, 'limited: workspace not trusted'];
    show(this.status, severity, version, detail);
    if (!atLeast(version, MINIMUM_SERVER)) void window.showWarningMessage(tooOld(version));
  }

  private options(interpreter: string | null): LanguageClientOptions {
    return {
      documentSelector: SELECTOR,
      diagnosticPullOptions: { onChange: true, onSave: true, onTabs: true },
      outputChannel: this.log,
      initializationOptions: () => ({
        interpreter,
        commands: ['loaderlint.showWorkerMap', 'loaderlint.showPage', ...(offersAudits() ? ['loaderlint.audit'] : [])],
        ...(this.showsWorkspace() && { diagnosticMode: 'workspace' }),
      }),
      stdioOptions: {
        stdout: () => undefined, // carries the protocol
        stderr: (stream) => (this.stderr = new Stderr(stream, this.log)),
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: async () => {
          // While the server starts, the code that starts it reports errors.
          if (!this.launching) await this.stopped();
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  /** The server stopped unexpectedly: start it again, or report that this happens too often. */
  private async stopped(): Promise<void> {
    const times = this.crashes(Date.now());
    // The client can only be disposed of after it has closed the connection.
    if (!times) return void setTimeout(() => this.restart(true));
    const reason = (await this.stderr?.reason()) ?? '';
    this.report(Failed, 'stopped', crashed(times, reason), { Restart: () => this.restartAfresh() });
  }

  /** Create our own environment. Returns whether it exists now. */
  private async make(): Promise<boolean> {
    const stop = new AbortController();
    const pythons = new Set(this.found.failures.flatMap(({ usable }) => usable ?? []));
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: 'Setting up loaderlint' };
    try {
      await window.withProgress(options, (_, cancelled) => {
        cancelled.onCancellationRequested(() => stop.abort());
        return this.environment!.make([...pythons], stop.signal);
      });
      return true;
    } catch (error) {
      const steps = { 'Try Again': () => this.setUp(), 'Choose Interpreter': choose };
      this.report(Failed, 'not set up', `loaderlint could not be set up: ${(error as Error).message}`, steps);
      return false;
    }
  }

  private async setUp(): Promise<void> {
    if (await this.make()) await this.restart(true);
  }

  private reportNotFound(): void {
    const { failures } = this.found;
    for (const text of tried(failures)) this.log.info(`Not used: ${text}`);
    const steps = { 'Choose Interpreter': choose };
    if (this.environment && failures.some((failure) => failure.usable)) {
      return this.report(Information, 'not set up', offer(workspace.isTrusted), { 'Set Up': () => this.setUp(), ...steps });
    }
    this.report(Warning, 'no Python', notFound(failures, workspace.isTrusted), steps);
  }

  private offerToEnable(): void {
    const enable = (): unknown => workspace.getConfiguration('loaderlint').update('enable', true);
    this.report(Information, 'off', 'loaderlint is turned off by the setting loaderlint.enable.', { 'Turn On': enable });
  }

  /** Say why the server is off, and offer the next steps. */
  private report(severity: vscode.LanguageStatusSeverity, state: string, message: string, steps: Record<string, () => unknown>): void {
    this.log.info(message);
    show(this.status, severity, state, '');
    this.running = '';
    const say = { [Failed]: window.showErrorMessage, [Warning]: window.showWarningMessage, [Information]: window.showInformationMessage };
    const all: typeof steps = { ...steps, 'Show Logs': () => this.log.show() };
    void say[severity]!(message, ...Object.keys(all)).then((step) => step && all[step]?.());
  }

  /** The command of the Python that is selected for a folder. */
  private python = async (folder: vscode.Uri | undefined): Promise<readonly string[] | undefined> =>
    (await this.interpreters.selected(folder).next()).value?.command;

  private isEnabled = (): boolean => workspace.getConfiguration('loaderlint').get('enable', true);

  private showsWorkspace = (): boolean => this.context.workspaceState.get(SHOWS_WORKSPACE, false);

  private async remember(shows: boolean): Promise<void> {
    await this.context.workspaceState.update(SHOWS_WORKSPACE, shows);
    await execute('setContext', 'loaderlint.showsWorkspace', shows);
  }

  private async showDebugInformation(): Promise<void> {
    await this.starting;
    const { server, failures } = this.found;
    const onlySet = (_: string, value: unknown): unknown => value ?? undefined;
    const settings = (folder?: vscode.WorkspaceFolder): string =>
      `- settings in ${folder?.uri.fsPath ?? 'no folder'}: \`${JSON.stringify(workspace.getConfiguration('loaderlint', folder), onlySet)}\``;
    const lines = [
      '# loaderlint: debug information\n\n## Editor\n',
      `- extension ${this.context.extension.packageJSON.version}, ${env.appName} ${vscode.version} on ${os.platform()} ${os.arch()}`,
      `- remote: ${env.remoteName ?? 'none'}; the workspace is ${workspace.isTrusted ? '' : 'not '}trusted`,
      `- status: ${this.status.text}; ${this.status.detail}`,
      `- server: ${server ? `\`${server.command.join(' ')}\` from ${server.origin}` : 'none'}`,
      ...tried(failures).map((text) => `- not used: ${text}`),
      ...(workspace.workspaceFolders ?? [undefined]).map(settings),
    ];
    const asked = this.client?.sendRequest<{ text: string }>('loaderlint/debugInformation', {});
    const told = await asked?.catch((error: unknown) => ({ text: String(error) }));
    const text = `${lines.join('\n')}\n\n${told?.text ?? 'The server is not running.\n'}`;
    const home = new RegExp(os.homedir().replace(/\W/g, '\\$&') + '(?![\\w.-])', 'g');
    await this.commands.show('debug information.md', { text: text.replace(home, '~') });
  }
}

/** Let the user select an interpreter, with an extension that can do that, else in our own setting. */
async function choose(): Promise<void> {
  const all = await vscode.commands.getCommands(true);
  const command = ['python-envs.set', 'python.setInterpreter'].find((name) => all.includes(name));
  await (command ? execute(command) : execute('workbench.action.openSettings', 'loaderlint.interpreter'));
}

/**
 * Run a program outside the workspace, so that no file of the workspace replaces it. The timeout is 30 s, because cold
 * network disks are slow.
 */
const run: Run = async ([program = '', ...args], options = {}) => {
  const defaults = { cwd: os.homedir(), timeout: 30_000, windowsHide: true, maxBuffer: 1 << 24 };
  return (await promisify(execFile)(program, args, { ...defaults, ...options })).stdout;
};
