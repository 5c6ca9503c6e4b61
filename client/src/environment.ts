import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Candidate, Run } from './discovery';

// The wheel knows how to install itself.
const MAKE = 'import sys; sys.path.insert(0, sys.argv[1]); from loaderlint.private_environment import main; main()';

/** The extension's own environment, created in `storage` from the bundled wheel, and named after it. */
export class Environment {
  private readonly name: string;

  constructor(private readonly storage: string, private readonly wheel: string, private readonly run: Run,
    private readonly log: (text: string) => void) {
    const digest = createHash('sha256').update(fs.readFileSync(wheel)).digest('hex').slice(0, 8);
    this.name = `server-${path.basename(wheel).split('-')[1]}-${digest}`;
  }

  /** Its Python, if it exists; not that of another version of the extension. */
  *candidates(): Generator<Candidate> {
    if (!this.folders().includes(this.name)) return;
    const [folder, now] = [path.join(this.storage, this.name), new Date()];
    fs.utimes(folder, now, now, () => undefined); // creating a new one removes those that are no longer used
    const python = process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'];
    yield { origin: "the extension's own environment", command: [path.join(folder, ...python)] };
  }

  /** Whether there is an environment for another version of the extension, and none for this one. */
  get isOutdated(): boolean {
    const folders = this.folders();
    return folders.length > 0 && !folders.includes(this.name);
  }

  /** Create it with the first of `pythons` that can. Rejects with an Error that says what to do. */
  async make(pythons: readonly string[], signal: AbortSignal): Promise<void> {
    const failures: string[] = [];
    for (const python of pythons) {
      const command = [python, '-I', '-c', MAKE, this.wheel, path.join(this.storage, this.name)];
      try {
        return this.log(await this.run(command, { timeout: 900_000, signal }));
      } catch (error) {
        const { stdout = '', stderr, message } = error as Error & { stdout?: string; stderr?: string };
        this.log(stdout);
        failures.push(signal.aborted ? 'it was cancelled' : stderr?.trim().split(/\r?\n/).pop() || message);
        if (signal.aborted || !/venv/.test(failures.at(-1) ?? '')) break; // another Python would fail too
      }
    }
    throw new Error(failures.join('; '));
  }

  private folders(): string[] {
    return fs.existsSync(this.storage) ? fs.readdirSync(this.storage).filter((name) => name.startsWith('server-')) : [];
  }
}
