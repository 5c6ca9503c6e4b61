import path from 'node:path';
import * as vscode from 'vscode';

/** A command line for a shell, quoted. PowerShell reads a program in quotes as a string, unless `&` precedes it. */
export function commandLine(words: readonly string[], shell: string): string {
  const quoted = words.map((word) => (/^[\w./\\:=+-]+$/.test(word) ? word : `"${word}"`));
  return `${/(powershell|pwsh)(\.exe)?$/i.test(shell) && quoted[0]!.startsWith('"') ? '& ' : ''}${quoted.join(' ')} `;
}

/** Whether audits are offered here: they run the user's program, so the workspace must be trusted. */
export const offersAudits = (): boolean =>
  vscode.workspace.isTrusted && vscode.workspace.getConfiguration('loaderlint').get('auditLens', true);

/**
 * Type the command line that audits a program into a terminal. The user adds the program's arguments and runs it.
 * `selected` gives the command of the project's own Python, if one is selected.
 */
export async function typeAudit(uri: string | undefined, selected: (folder: vscode.Uri | undefined) => Promise<readonly string[] | undefined>): Promise<void> {
  const file = uri ? vscode.Uri.parse(uri) : vscode.window.activeTextEditor?.document.uri;
  if (!file || file.scheme !== 'file') throw new Error('first open the program that creates the loaders');
  if (!vscode.workspace.isTrusted) throw new Error('an audit runs your program, so trust the workspace first');
  const folder = vscode.workspace.getWorkspaceFolder(file)?.uri;
  const python = (await selected(folder)) ?? [process.platform === 'win32' ? 'python' : 'python3'];
  const program = folder ? path.relative(folder.fsPath, file.fsPath) : file.fsPath;
  const terminal = vscode.window.createTerminal({ name: 'loaderlint audit', ...(folder && { cwd: folder }) });
  terminal.show();
  terminal.sendText(commandLine([...python, '-m', 'loaderlint', 'audit', program], vscode.env.shell), false);
}
