import * as vscode from 'vscode';
import type { Candidate } from './discovery';

/** The part of the Python Environments extension's API that is used. */
interface Environments {
  getEnvironment(scope?: vscode.Uri): Promise<{ execInfo?: { run?: { executable: string; args?: string[] } } } | undefined>;
  onDidChangeEnvironment: vscode.Event<unknown>;
}
/** The part of the Python extension's API that is used. */
interface Python {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): object;
    resolveEnvironment(path: object): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/** The interpreters that the editor's Python extensions have selected. Neither extension is required, and one that fails is ignored. */
export class Interpreters {
  private readonly followed = new Set<string>();
  /** `changed` is called when another interpreter is selected. */
  constructor(private readonly log: vscode.LogOutputChannel, private readonly changed: () => void,
    private readonly subscriptions: vscode.Disposable[]) {}

  /** The selected interpreters of `folder` according to each extension, the best first. */
  async *selected(folder: vscode.Uri | undefined): AsyncGenerator<Candidate> {
    const run = await this.ask('ms-python.vscode-python-envs', async (api: Environments, first) => {
      if (first) this.subscriptions.push(api.onDidChangeEnvironment(this.changed));
      return (await api.getEnvironment(folder))?.execInfo?.run;
    });
    if (run?.executable) yield { origin: 'the selected environment', command: [run.executable, ...(run.args ?? [])] };
    const uri = await this.ask('ms-python.python', async ({ environments }: Python, first) => {
      if (first) this.subscriptions.push(environments.onDidChangeActiveEnvironmentPath(this.changed));
      return (await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder)))?.executable.uri;
    });
    if (uri) yield { origin: 'the selected interpreter', command: [uri.fsPath] };
  }

  private async ask<Api, T>(id: string, question: (api: Api, first: boolean) => Promise<T>): Promise<T | undefined> {
    try {
      const api = await vscode.extensions.getExtension<Api | undefined>(id)?.activate();
      if (!api) return undefined;
      const first = !this.followed.has(id);
      this.followed.add(id);
      return await question(api, first);
    } catch (error) {
      this.log.warn(`${id} returned no interpreter: ${String(error)}`);
      return undefined;
    }
  }
}
