// Runs inside VS Code's extension host, and writes what VS Code's own commands say about the example into report.json.
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

exports.activate = () => undefined;

exports.run = async () => {
  const folder = vscode.workspace.workspaceFolders[0].uri;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder, 'transforms.py'));
  await vscode.window.showTextDocument(document);
  const diagnostics = await found(document.uri);
  const draw = diagnostics.find((one) => code(one) === 'LDR101');
  const report = {
    version: vscode.version,
    extension: vscode.extensions.getExtension('loaderlint.loaderlint').packageJSON.version,
    diagnostics: diagnostics.map((one) => ({
      code: code(one),
      link: String(one.code.target),
      severity: vscode.DiagnosticSeverity[one.severity],
      source: one.source,
      start: [one.range.start.line + 1, one.range.start.character + 1],
      related: one.relatedInformation.map((place) => path.basename(place.location.uri.fsPath)),
    })),
    fixes: (await actions(document.uri, draw.range, 'quickfix', 1)).map(described),
    all: (await actions(document.uri, draw.range, 'source.fixAll.loaderlint', 1)).map(described),
    others: await actions(document.uri, draw.range, 'source.organizeImports', 0),
    hover: (await vscode.commands.executeCommand('vscode.executeHoverProvider', document.uri, draw.range.start))
      .flatMap((hover) => hover.contents.map((content) => content.value)).join('\n'),
    commands: (await vscode.commands.getCommands(true)).filter((name) => name.startsWith('loaderlint.')).sort(),
  };
  await vscode.commands.executeCommand('loaderlint.showWorkerMap', vscode.Uri.joinPath(folder, 'loaders.py').toString());
  report.told = vscode.workspace.textDocuments.filter((one) => one.uri.scheme === 'loaderlint').map((one) => one.getText());
  report.notebook = await notebook(vscode.Uri.joinPath(folder, 'explore.ipynb'));
  fs.writeFileSync(path.join(process.env.HOME, 'report.json'), JSON.stringify(report));
};

/** What is offered for a notebook as a whole and for one cell of it, and what is left when all is fixed. */
const notebook = async (uri) => {
  const opened = await vscode.workspace.openNotebookDocument(uri);
  await vscode.window.showNotebookDocument(opened);
  const cells = opened.getCells().map((cell) => cell.document);
  const [{ range }] = await found(cells[1].uri);
  const [all, ...more] = await actions(cells[1].uri, range, 'notebook.source.fixAll.loaderlint', 1);
  const cellByCell = await actions(cells[1].uri, range, 'source.fixAll.loaderlint', 1);
  const gone = none(cells[1].uri);
  const applied = await vscode.workspace.applyEdit(all.edit);
  await gone;
  return { kind: all.kind.value, more: more.length, cellByCell: cellByCell.length, applied, cells: cells.map((one) => one.getText()) };
};

const code = (diagnostic) => diagnostic.code.value;

/** The diagnostics of a document, as soon as they are as wanted. */
const diagnosed = (uri, wanted) => new Promise((resolve) => {
  const look = () => {
    const shown = vscode.languages.getDiagnostics(uri);
    if (!wanted(shown.length)) return;
    changes.dispose();
    resolve(shown);
  };
  const changes = vscode.languages.onDidChangeDiagnostics(look);
  look();
});
const found = (uri) => diagnosed(uri, (count) => count > 0);
const none = (uri) => diagnosed(uri, (count) => count === 0);

const actions = (uri, range, kind, resolved) =>
  vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri, range, kind, resolved);

const described = (action) => ({
  title: action.title,
  kind: action.kind.value,
  preferred: action.isPreferred ?? false,
  files: (action.edit?.entries() ?? []).map(([uri]) => path.basename(uri.fsPath)),
});
