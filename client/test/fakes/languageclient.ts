// A language client whose server is the test.
interface Options {
  readonly initializationOptions: { readonly interpreter: string | null };
}

export const clients: LanguageClient[] = [];

export class LanguageClient {
  readonly initializeResult = { serverInfo: { version: '0.1.0' } };
  asked: [string, unknown][] = [];
  answers: Record<string, unknown> = {};
  running = false;
  constructor(_id: string, _name: string, readonly server: { command: string; args: string[] }, readonly options: Options) {
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
