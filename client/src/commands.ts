import { randomUUID } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { WorkDoneProgress, type LanguageClient } from 'vscode-languageclient/node';
import { checked } from './messages';

/** What the server tells: a text, and the folder that its paths are relative to. */
interface Told {
  readonly text: string;
  readonly folder?: string | null;
}
export const SCHEME = 'loaderlint';
const PLACE = /([^\s`(]+\.pyi?):(\d+)/g;

/**
 * The commands that ask the server something, and the read-only documents in which its answers are shown.
 * `ready` gives the client when the server runs, and undefined if it does not (then the user knows why).
 */
export class Commands implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider {
  private readonly told = new Map<string, Told>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly ready: () => Promise<LanguageClient | undefined>, private readonly log: vscode.LogOutputChannel) {}

  register(): vscode.Disposable[] {
    const command = (name: string, run: (...args: never[]) => Promise<unknown>): vscode.Disposable =>
      vscode.commands.registerCommand(name, (...args: never[]) => run(...args).catch((error: unknown) => this.failed(error)));
    return [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerDocumentLinkProvider({ scheme: SCHEME }, this),
      command('loaderlint.explainLine', () => this.explain()),
      command('loaderlint.showWorkerMap', (uri?: string) => this.showWorkers(uri)),
      command('loaderlint.checkWorkspace', () => this.check()),
      command('loaderlint.showOpenFilesOnly', () => this.showOpenFilesOnly()),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.told.get(uri.toString())?.text ?? 'This was told in another session; run the command again.\n';
  }

  /** The places in a text ('train.py:12'), as links. */
  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    const folder = this.told.get(document.uri.toString())?.folder;
    return [...document.getText().matchAll(PLACE)].flatMap((found) => {
      const [place, file, line] = found as unknown as [string, string, string];
      if (!folder && !path.isAbsolute(file)) return [];
      const uri = path.isAbsolute(file) ? vscode.Uri.file(file) : vscode.Uri.joinPath(vscode.Uri.parse(folder!), file);
      const range = new vscode.Range(document.positionAt(found.index), document.positionAt(found.index + place.length));
      return new vscode.DocumentLink(range, uri.with({ fragment: `L${line}` }));
    });
  }

  /** Show a text beside what is edited. A name is that of one document: the same question renews its text. */
  async show(name: string, told: Told): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
    this.told.set(uri.toString(), told);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }

  private async explain(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) throw new Error('Put the cursor on a line of a Python file first.');
    const [uri, { line, character }] = [editor.document.uri, editor.selection.active];
    const params = { textDocument: { uri: uri.toString() }, position: { line, character } };
    const told = await (await this.ready())?.sendRequest<Told>('loaderlint/explain', params);
    if (told) await this.show(`${path.basename(uri.path)} line ${line + 1} explained`, told);
  }

  private async showWorkers(uri?: string): Promise<void> {
    const told = await (await this.ready())?.sendRequest<Told>('loaderlint/workers', uri ? { textDocument: { uri } } : {});
    if (told) await this.show(uri ? `workers of ${path.basename(vscode.Uri.parse(uri).path)}` : 'workers of the project', told);
  }

  private async check(): Promise<void> {
    const client = await this.ready();
    if (!client) return;
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: 'loaderlint: checking the workspace' };
    const found = await vscode.window.withProgress(options, async (progress, cancelled) => {
      const [workDoneToken, shown] = [randomUUID(), { percentage: 0 }];
      const listener = client.onProgress(WorkDoneProgress.type, workDoneToken, ({ kind, ...now }) => {
        const { percentage = 0 } = now as { percentage?: number };
        if (kind === 'report') progress.report({ increment: percentage - shown.percentage });
        if (kind === 'report') shown.percentage = percentage;
      });
      const params = { workDoneToken };
      const asked = client.sendRequest<{ findings: number; files: number }>('loaderlint/checkWorkspace', params, cancelled);
      return asked.finally(() => listener.dispose()).catch((error: unknown) => this.failed(cancelled.isCancellationRequested ? undefined : error));
    });
    if (!found) return;
    await vscode.commands.executeCommand('setContext', 'loaderlint.showsWorkspace', true);
    await vscode.commands.executeCommand('workbench.actions.view.problems');
    const step = 'Show Open Files Only';
    void vscode.window.showInformationMessage(checked(found), step).then((chosen) => chosen && this.showOpenFilesOnly());
  }

  private async showOpenFilesOnly(): Promise<void> {
    await (await this.ready())?.sendRequest('loaderlint/showOpenFilesOnly', {});
    await vscode.commands.executeCommand('setContext', 'loaderlint.showsWorkspace', false);
  }

  private failed(error: unknown): undefined {
    if (error === undefined) return;
    const message = error instanceof Error ? error.message : String(error);
    this.log.error(message);
    void vscode.window.showErrorMessage(`loaderlint: ${message}`, 'Show Logs').then((step) => step && this.log.show());
  }
}
