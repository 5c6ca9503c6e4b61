import * as vscode from 'vscode';

/** The item next to the language in the status bar. */
export function createStatus(selector: vscode.DocumentSelector): vscode.LanguageStatusItem {
  const command = { command: 'loaderlint.restart', title: 'Restart' };
  return Object.assign(vscode.languages.createLanguageStatusItem('loaderlint', selector), { command });
}

/** Show a state and its detail. The text is short, so that *Restart* is visible next to it. */
export function show(item: vscode.LanguageStatusItem, severity: vscode.LanguageStatusSeverity, state: string, detail: string, busy = false): void {
  Object.assign(item, { severity, text: `loaderlint: ${state}`, detail, busy });
}
