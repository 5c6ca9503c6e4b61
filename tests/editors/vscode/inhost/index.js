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
  fs.writeFileSync(path.join(process.env.HOME, 'report.json'), JSON.stringify(report));
};

const code = (diagnostic) => diagnostic.code.value;

/** The diagnostics of a document, as soon as there are some. */
const found = (uri) => new Promise((resolve) => {
  const look = () => {
    const shown = vscode.languages.getDiagnostics(uri);
    if (shown.length === 0) return;
    changes.dispose();
    resolve(shown);
  };
  const changes = vscode.languages.onDidChangeDiagnostics(look);
  look();
});

const actions = (uri, range, kind, resolved) =>
  vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri, range, kind, resolved);

const described = (action) => ({
  title: action.title,
  kind: action.kind.value,
  preferred: action.isPreferred ?? false,
  files: (action.edit?.entries() ?? []).map(([uri]) => path.basename(uri.fsPath)),
});
