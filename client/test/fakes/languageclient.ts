// A language client whose server is the test.
interface Options {
  readonly initializationOptions: () => { readonly interpreter: string | null; readonly diagnosticMode?: string; readonly commands: string[] };
  readonly stdioOptions: { readonly stderr: (stream: NodeJS.ReadableStream) => void };
  readonly errorHandler: { readonly closed: () => Promise<unknown> };
}

interface Executable {
  readonly command: string;
  readonly args: string[];
  readonly options?: { readonly cwd?: string };
}

export const clients: LanguageClient[] = [];

export class LanguageClient {
  readonly initializeResult = { serverInfo: { version: '0.1.0' } };
  /** What answers for code actions. */
  provider: unknown;
  asked: [string, unknown][] = [];
  answers: Record<string, unknown> = {};
  running = false;
  constructor(_id: string, _name: string, readonly server: Executable, readonly options: Options) {
    clients.push(this);
  }
  isRunning() {
    return this.running;
  }
  async start() {
    this.running = true;
  }
  async dispose() {
    this.running = false;
  }
  onProgress() {
    return { dispose: () => undefined };
  }
  getFeature() {
    return { getProvider: () => this.provider };
  }
  async sendRequest(method: string, params: unknown) {
    this.asked.push([method, params]);
    const answer = this.answers[method];
    if (answer instanceof Error) throw answer;
    return answer;
  }
}
export const WorkDoneProgress = { type: {} };
export const CloseAction = { Restart: 2, DoNotRestart: 1 };
export const ErrorAction = { Continue: 1 };
