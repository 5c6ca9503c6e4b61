// As much of VS Code as the client uses, in the hands of a test. What the tests see and set is in `world`.
import path from 'node:path';

export interface Message {
  readonly severity: string;
  readonly text: string;
  readonly steps: string[];
}

export interface TerminalLinks {
  provideTerminalLinks(context: { line: string }, token: unknown): Promise<{ startIndex: number; length: number }[]>;
  handleTerminalLink(link: unknown): Promise<void>;
}

class World {
  trusted = true;
  folder = '/nowhere';
  settings: Record<string, unknown> = {};
  extensions: Record<string, unknown> = {};
  editor: unknown;
  /** Which button is pressed below a message. */
  answer: (message: Message) => string | undefined = () => undefined;
  /** Which of the items of a list are chosen, and what is written into a box that begins with a text. */
  choose: (labels: string[]) => string[] | undefined = () => undefined;
  write: (begun: string) => string | undefined = () => undefined;
  messages: Message[] = [];
  commands = new Map<string, (...args: unknown[]) => unknown>();
  executed: unknown[][] = [];
  shown: Uri[] = [];
  content: { provideTextDocumentContent(uri: Uri): Promise<string> } | undefined;
  /** What makes links in terminals. */
  terminals: TerminalLinks | undefined;
  links: { provideDocumentLinks(document: unknown): { target: Uri }[] } | undefined;
  actions: Record<'provideCodeActions' | 'resolveCodeAction', (...about: unknown[]) => Promise<unknown>> | undefined;
  notebooks: unknown[] = [];
  opened = new EventEmitter<unknown>();
  status: Record<string, unknown> = {};
  /** What was typed into terminals, with where they were opened, and whether it was run. */
  typed: { text: string; cwd: string | undefined; ran: boolean }[] = [];
  shell = '/bin/bash';
  /** How many files were saved. */
  saved = 0;
  /** What is kept for the workspace from one session to the next. */
  kept = new Map<string, unknown>();
  cancelled = new EventEmitter<void>();
  trust = new EventEmitter<void>();
  configured = new EventEmitter<{ affectsConfiguration(key: string): boolean }>();
}
export class EventEmitter<T> {
  private listeners: ((event: T) => unknown)[] = [];
  event = (listener: (event: T) => unknown) => {
    this.listeners.push(listener);
    return { dispose: () => undefined };
  };
  fire(event: T) {
    for (const listener of this.listeners) listener(event);
  }
}
export class Uri {
  fragment = '';
  constructor(readonly scheme: string, readonly path: string) {}
  static file = (name: string) => new Uri('file', name);
  static from = (parts: { scheme: string; path: string }) => new Uri(parts.scheme, parts.path);
  static parse = (text: string) => new Uri(...(text.split(/:(?:\/\/)?/) as [string, string]));
  static joinPath = (base: Uri, ...names: string[]) => new Uri(base.scheme, path.posix.join(base.path, ...names));
  get fsPath() {
    return this.path;
  }
  with({ fragment }: { fragment: string }) {
    return Object.assign(new Uri(this.scheme, this.path), { fragment });
  }
  toString() {
    return `${this.scheme}://${this.path}`;
  }
}
export let world = new World();
export const renew = () => (world = new World());

const message = (severity: string) => async (text: string, ...steps: string[]) => {
  world.messages.push({ severity, text, steps });
  return world.answer({ severity, text, steps });
};
const disposable = { dispose: () => undefined };
export const ProgressLocation = { Notification: 15 };
export const ViewColumn = { Beside: -2 };
export const LanguageStatusSeverity = { Information: 'information', Warning: 'warning', Error: 'error' };
export class Range {
  constructor(readonly start: unknown, readonly end: unknown) {}
}
export class CodeAction {
  constructor(readonly title: string, readonly edit?: unknown) {}
}
export class CodeActionKind {
  static readonly Notebook = new CodeActionKind('notebook');
  constructor(readonly value: string) {}
  append = (parts: string) => new CodeActionKind(`${this.value}.${parts}`);
}
export class DocumentLink {
  constructor(readonly range: Range, readonly target: Uri) {}
}
export const version = '1.91.0';
export const env = {
  appName: 'a fake',
  remoteName: undefined,
  get shell() {
    return world.shell;
  },
};
const quiet = () => undefined;
export const window = {
  createOutputChannel: () => ({ info: quiet, error: quiet, warn: quiet, debug: quiet, show: quiet }),
  showErrorMessage: message('error'),
  showWarningMessage: message('warning'),
  showInformationMessage: message('information'),
  registerTerminalLinkProvider: (provider: TerminalLinks) => {
    world.terminals = provider;
    return disposable;
  },
  showQuickPick: async (items: { label: string }[]) => {
    const chosen = world.choose(items.map(({ label }) => label));
    return chosen && items.filter(({ label }) => chosen.includes(label));
  },
  showInputBox: async ({ value }: { value: string }) => world.write(value),
  showTextDocument: async (uri: Uri) => void world.shown.push(uri),
  createTerminal: ({ cwd }: { cwd?: Uri }) => ({
    show: quiet,
    sendText: (text: string, ran = true) => void world.typed.push({ text, cwd: cwd?.path, ran }),
  }),
  get activeTextEditor() {
    return world.editor;
  },
  withProgress: (_: unknown, task: (progress: unknown, token: unknown) => unknown) => {
    const token = { isCancellationRequested: false, onCancellationRequested: world.cancelled.event };
    world.cancelled.event(() => (token.isCancellationRequested = true));
    return task({ report: quiet }, token);
  },
};
export const languages = {
  createLanguageStatusItem: () => world.status,
  registerCodeActionsProvider: (_: unknown, provider: World['actions']) => {
    world.actions = provider;
    return disposable;
  },
  registerDocumentLinkProvider: (_: unknown, provider: World['links']) => {
    world.links = provider;
    return disposable;
  },
};
export const workspace = {
  get isTrusted() {
    return world.trusted;
  },
  get workspaceFolders() {
    return [{ uri: Uri.file(world.folder) }];
  },
  getWorkspaceFolder: (uri: Uri) => (uri.path.startsWith(`${world.folder}/`) ? { uri: Uri.file(world.folder) } : undefined),
  get notebookDocuments() {
    return world.notebooks;
  },
  get textDocuments() {
    const save = async () => (world.saved += 1);
    return [{ isDirty: true, isUntitled: false, save }, { isDirty: false, isUntitled: false, save }, { isDirty: true, isUntitled: true, save }];
  },
  onDidOpenNotebookDocument: (listener: (notebook: unknown) => unknown) => world.opened.event(listener),
  getConfiguration: () => ({
    get: (key: string, usual?: unknown) => world.settings[key] ?? usual,
    update: async (key: string, value: unknown) => {
      world.settings[key] = value;
      world.configured.fire({ affectsConfiguration: (name) => name === `loaderlint.${key}` });
    },
    toJSON: () => world.settings,
  }),
  onDidGrantWorkspaceTrust: (listener: () => unknown) => world.trust.event(listener),
  onDidChangeConfiguration: (listener: (event: { affectsConfiguration(key: string): boolean }) => unknown) =>
    world.configured.event(listener),
  registerTextDocumentContentProvider: (_: unknown, provider: World['content']) => {
    world.content = provider;
    return disposable;
  },
};
export const extensions = {
  getExtension: (id: string) => (id in world.extensions ? { activate: async () => world.extensions[id] } : undefined),
};
export const commands = {
  registerCommand: (name: string, run: (...args: unknown[]) => unknown) => {
    world.commands.set(name, run);
    return disposable;
  },
  executeCommand: async (...words: unknown[]) => void world.executed.push(words),
  getCommands: async () => ['python.setInterpreter'],
};
