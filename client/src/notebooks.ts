import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

const { workspace, languages } = vscode;
const { executeCommand: execute } = vscode.commands;
const { Notebook } = vscode.CodeActionKind;

/**
 * The actions of a whole notebook whose first cell is not Python.
 *
 * When a notebook is saved, VS Code asks for its actions at the first cell, whatever that is. The server only answers for
 * Python cells, so the request is sent for the first of those.
 */
export class NotebookActions implements vscode.CodeActionProvider {
  private readonly providers = new WeakMap<vscode.CodeAction, vscode.CodeActionProvider>();

  constructor(private readonly client: () => LanguageClient | undefined) {}

  register(): vscode.Disposable[] {
    const providedCodeActionKinds = [Notebook.append('source.fixAll.loaderlint')];
    workspace.notebookDocuments.forEach(prepare);
    return [
      languages.registerCodeActionsProvider({ notebookType: '*' }, this, { providedCodeActionKinds }),
      workspace.onDidOpenNotebookDocument(prepare),
    ];
  }

  async provideCodeActions(
    document: vscode.TextDocument,
    _: vscode.Range,
    context: vscode.CodeActionContext,
    token: vscode.CancellationToken,
  ): Promise<vscode.CodeAction[]> {
    // Without a kind, the request comes from the light bulb.
    if (!context.only || document.languageId === 'python') return [];
    const cell = firstOfPython(document);
    const provider = cell && this.client()?.getFeature('textDocument/codeAction').getProvider(cell);
    if (!provider) return [];
    const start = new vscode.Range(0, 0, 0, 0);
    const found = (await provider.provideCodeActions(cell, start, { ...context, diagnostics: [] }, token)) ?? [];
    const actions = found.filter((action) => action instanceof vscode.CodeAction);
    for (const action of actions) this.providers.set(action, provider);
    return actions;
  }

  async resolveCodeAction(action: vscode.CodeAction, token: vscode.CancellationToken): Promise<vscode.CodeAction> {
    return (await this.providers.get(action)?.resolveCodeAction?.(action, token)) ?? action;
  }
}

function firstOfPython(document: vscode.TextDocument): vscode.TextDocument | undefined {
  const documents = workspace.notebookDocuments.map((notebook) => notebook.getCells().map((cell) => cell.document));
  return documents.find((cells) => cells.includes(document))?.find((cell) => cell.languageId === 'python');
}

/**
 * Activate the extensions for the language of the first cell, if a save will ask for actions there. Otherwise the save
 * activates them, and when another extension offers code actions, VS Code drops those that it is receiving.
 */
function prepare(notebook: vscode.NotebookDocument): void {
  const kinds = Object.keys(workspace.getConfiguration('notebook', notebook.uri).get<object>('codeActionsOnSave') ?? {});
  const first = notebook.getCells()[0]?.document;
  if (!first || first.languageId === 'python' || !kinds.some((kind) => kind.startsWith(Notebook.value))) return;
  execute('vscode.executeDocumentSymbolProvider', first.uri).then(undefined, () => undefined);
}
