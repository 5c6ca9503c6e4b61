import * as vscode from 'vscode';

interface Choice extends vscode.QuickPickItem {
  /** The beginning of the value that the user has to complete. */
  readonly asks?: string;
}
/** The changes to choose from, as `loaderlint check --compare` accepts them. */
const CHOICES: readonly Choice[] = [
  { label: 'python=3.14', description: 'forkserver is the default start method on Linux' },
  { label: 'start-method=spawn', description: 'workers start with no state of the main process' },
  { label: 'platforms=windows' },
  { label: 'platforms=linux,macos,windows' },
  { label: 'torch=...', description: 'another version of PyTorch', asks: 'torch=' },
  { label: 'Other ...', description: 'any change that loaderlint check --compare accepts', asks: '' },
];

/** Let the user choose changes. Returns them as one text ('python=3.14,torch=2.9'); undefined if there are none. */
export async function pickChanges(): Promise<string | undefined> {
  const placeHolder = 'What would change? Choose one or several';
  const chosen = await vscode.window.showQuickPick(CHOICES, { title: 'loaderlint: What If ...', placeHolder, canPickMany: true });
  const changes: string[] = [];
  for (const { label, asks } of chosen ?? []) {
    const change = asks === undefined ? label : await write(asks);
    if (!change) return undefined;
    changes.push(change);
  }
  return changes.join(',') || undefined;
}

const write = (value: string): Thenable<string | undefined> =>
  vscode.window.showInputBox({
    title: 'loaderlint: What If ...',
    prompt: 'NAME=VALUE, such as torch=2.9 or albumentations=2.0.8',
    value,
    valueSelection: [value.length, value.length],
    validateInput: (text) => (/^[\w-]+=./.test(text) ? undefined : 'Write NAME=VALUE, such as torch=2.9'),
  });
