import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** The part of an output channel that is used. */
export type Log = Record<'info' | 'warn' | 'error', (line: string) => void>;

const LEVELS = { DEBUG: 'info', INFO: 'info', WARNING: 'warn', ERROR: 'error', CRITICAL: 'error' } as const;
const LEVEL = /^(DEBUG|INFO|WARNING|ERROR|CRITICAL) /;
const MOST_LINES = 200;

/** The stderr of one server process. It is written to the log as it arrives. */
export class Stderr {
  private readonly lines: string[] = [];
  private readonly end: Promise<unknown>;

  constructor(stream: NodeJS.ReadableStream, log: Log) {
    const reader = createInterface(stream);
    let level: keyof Log = 'error';
    reader.on('line', (line) => {
      const named = LEVEL.exec(line)?.[1] as keyof typeof LEVELS | undefined;
      if (named) level = LEVELS[named];
      else if (/^\S/.test(line) && level === 'info') level = 'error'; // not the rest of a message: it is from Python itself
      log[level](line);
      this.lines.push(line);
      if (this.lines.length > MOST_LINES) this.lines.shift();
    });
    this.end = once(reader, 'close');
  }

  /** The error with which the process ended; '' if it printed none. Its last output may not have arrived yet. */
  async reason(): Promise<string> {
    await Promise.race([this.end, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
    return reasonIn(this.lines);
  }
}

/** The line that says why a process ended: the message at the end of a traceback, or of a crash of Python itself. */
export function reasonIn(lines: readonly string[]): string {
  const fatal = lines.filter((line) => line.startsWith('Fatal Python error')).at(-1);
  const errors = lines.filter((line) => /^\S/.test(line) && !/^(DEBUG|INFO|WARNING) |^(Traceback|Extension modules)\b/.test(line));
  return fatal ?? errors.at(-1) ?? '';
}
