import { randomUUID } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { WorkDoneProgress, type LanguageClient } from 'vscode-languageclient/node';
import { pickChanges } from './changes';

/** An answer of the server: a text, and the folder that the paths in it are relative to. */
interface Told {
  readonly text: string;
  readonly folder?: string | null;
}
/** A message in a terminal, with its explanation. */
type Message = vscode.TerminalLink & { readonly told: Told };
const SCHEME = 'loaderlint';
const PLACE = /([^\s`(]+\.(?:pyi?|ipynb)):(?:cell \d+:)?(\d+)/g;
const { executeCommand: execute } = vscode.commands;

/**
 * The commands that send requests to the server, and the read-only documents that show its answers.
 * `ready` returns the client when the server runs, and undefined if it does not (then the user has seen why);
 * `running` returns it without starting the server or telling the user.
 */
export class Commands implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider, vscode.TerminalLinkProvider<Message> {
  private readonly told = new Map<string, Told>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  /** `remember` stores for the next session whether the findings of the whole workspace are shown; `audit` audits a program. */
  constructor(
    private readonly ready: () => Promise<LanguageClient | undefined>,
    private readonly running: () => LanguageClient | undefined,
    private readonly remember: (shows: boolean) => unknown,
    private readonly audit: (uri?: string) => Promise<void>,
  ) {}

  register(): vscode.Disposable[] {
    const command = (name: string, run: (...args: never[]) => Promise<unknown>): vscode.Disposable =>
      vscode.commands.registerCommand(name, (...args: never[]) => run(...args).catch(tellError));
    return [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerDocumentLinkProvider({ scheme: SCHEME }, this),
      vscode.window.registerTerminalLinkProvider(this),
      command('loaderlint.explainLine', () => this.explain()),
      command('loaderlint.showWorkerMap', (uri?: string) => this.showWorkers(uri)),
      command('loaderlint.showPage', async (rule: string) => execute('markdown.showPreviewToSide', vscode.Uri.parse(`${SCHEME}:/rules/${rule}.md`))),
      command('loaderlint.askWhatIf', () => this.whatIf()),
      command('loaderlint.checkWorkspace', () => this.check()),
      command('loaderlint.showOpenFilesOnly', () => this.showOpenFilesOnly()),
      command('loaderlint.fixWorkspace', () => this.fixWorkspace()),
      command('loaderlint.audit', (uri?: unknown) => this.audit(typeof uri === 'string' ? uri : undefined)),
    ];
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [, rule] = /^\/rules\/(.+)\.md$/.exec(uri.path) ?? [];
    const told = rule ? await this.ask('loaderlint/page', { rule }) : this.told.get(uri.toString());
    return told?.text ?? 'This text is from another session; run the command again.\n';
  }

  /** The places in a text ('train.py:12'), as links. */
  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    const folder = this.told.get(document.uri.toString())?.folder;
    return [...document.getText().matchAll(PLACE)].flatMap(({ index, 0: place, 1: file = '', 2: line }) => {
      if (!folder && !path.isAbsolute(file)) return [];
      const uri = path.isAbsolute(file) ? vscode.Uri.file(file) : vscode.Uri.joinPath(vscode.Uri.parse(folder!), file);
      const range = new vscode.Range(document.positionAt(index), document.positionAt(index + place.length));
      return new vscode.DocumentLink(range, uri.with({ fragment: `L${line}` }));
    });
  }

  /** The messages that the server knows, as links. Failures are ignored, because VS Code asks about each line below the mouse. */
  async provideTerminalLinks({ line }: vscode.TerminalLinkContext, cancelled: vscode.CancellationToken): Promise<Message[]> {
    const text = line.trim();
    const told = text && (await this.running()?.sendRequest<Told | null>('loaderlint/symptom', { text }, cancelled).catch(() => null));
    return told ? [{ startIndex: line.indexOf(text), length: text.length, tooltip: 'loaderlint: show the cause', told }] : [];
  }

  handleTerminalLink = ({ told }: Message): Thenable<void> =>
    execute('markdown.showPreviewToSide', this.keep('a message of your program.md', told));

  /** Show a text beside the editor. Each name is one document: the same request again updates its text. */
  async show(name: string, told: Told): Promise<void> {
    await vscode.window.showTextDocument(this.keep(name, told), { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  }

  private keep(name: string, told: Told): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
    this.told.set(uri.toString(), told);
    this.changed.fire(uri);
    return uri;
  }

  private ask = async (method: string, about: object) => (await this.ready())?.sendRequest<Told>(method, about);

  private async explain(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) throw new Error('first put the cursor on a line of a Python file');
    const [{ uri }, position] = [editor.document, editor.selection.active];
    const told = await this.ask('loaderlint/explain', { textDocument: { uri: uri.toString() }, position, format: 'markdown' });
    if (told) await this.show(`explanation (${path.basename(uri.path)} line ${position.line + 1}).md`, told);
  }

  private async showWorkers(uri?: string): Promise<void> {
    const told = await this.ask('loaderlint/workers', { ...(uri && { textDocument: { uri } }), format: 'markdown' });
    if (told) await this.show(`worker map (${uri ? path.basename(vscode.Uri.parse(uri).path) : 'project'}).md`, told);
  }

  private async whatIf(): Promise<void> {
    const client = await this.ready();
    const changes = client && (await pickChanges());
    if (!changes) return;
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: `loaderlint: what if ${changes}?` };
    const told = await vscode.window.withProgress(options, async (_, cancelled) => {
      const params = { command: 'loaderlint.whatIf', arguments: [changes, 'markdown'] };
      const stopped = (error: unknown): void => (cancelled.isCancellationRequested ? undefined : tellError(error));
      return client.sendRequest<Told>('workspace/executeCommand', params, cancelled).catch(stopped);
    });
    if (told) await this.show(`what if ${changes.replaceAll('/', ' ')}.md`, told);
  }

  private async check(): Promise<void> {
    const client = await this.ready();
    if (!client) return;
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: 'loaderlint: checking' };
    const found = await vscode.window.withProgress(options, async (progress, cancelled) => {
      const workDoneToken = randomUUID();
      let percent = 0;
      const listener = client.onProgress(WorkDoneProgress.type, workDoneToken, (now) => {
        const { percentage = percent } = now as { percentage?: number };
        progress.report({ increment: percentage - percent });
        percent = percentage;
      });
      const asked = client.sendRequest<{ message: string }>('loaderlint/checkWorkspace', { workDoneToken }, cancelled);
      const stopped = (error: unknown): void => (cancelled.isCancellationRequested ? undefined : tellError(error));
      return asked.catch(stopped).finally(() => listener.dispose());
    });
    if (!found) return;
    await this.remember(true);
    await execute('workbench.actions.view.problems');
    const chosen = await vscode.window.showInformationMessage(found.message, 'Show Open Files Only');
    if (chosen) await this.showOpenFilesOnly();
  }

  private async showOpenFilesOnly(): Promise<void> {
    await (await this.ready())?.sendRequest('loaderlint/showOpenFilesOnly', {});
    await this.remember(false);
  }

  private async fixWorkspace(): Promise<void> {
    const options = { location: vscode.ProgressLocation.Notification, title: 'loaderlint: fixing the workspace' };
    const client = await this.ready();
    const fix = async () => client?.sendRequest<{ files: number; message: string }>('loaderlint/fixWorkspace', {});
    const fixed = await vscode.window.withProgress(options, fix);
    if (!fixed) return;
    const chosen = await vscode.window.showInformationMessage(fixed.message, ...(fixed.files ? ['Save All'] : []));
    // `workspace.saveAll` omits documents that have no tab yet.
    const edited = vscode.workspace.textDocuments.filter(({ isDirty, isUntitled }) => isDirty && !isUntitled);
    if (chosen) await Promise.all(edited.map((document) => document.save()));
  }
}

function tellError(error: unknown): void {
  void vscode.window.showErrorMessage(`loaderlint: ${error instanceof Error ? error.message : String(error)}`);
}
