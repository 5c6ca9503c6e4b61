// Stands in for the Python extension: the selected interpreter is what stands in the file `interpreter` at home.
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

exports.activate = () => {
  const file = path.join(process.env.HOME, 'interpreter');
  const changed = new vscode.EventEmitter();
  fs.watchFile(file, { interval: 100 }, () => changed.fire());
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ path: fs.readFileSync(file, 'utf8') }),
      resolveEnvironment: async (active) => ({ executable: { uri: vscode.Uri.file(active.path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
