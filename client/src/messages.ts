import { MINIMUM_PYTHON, MINIMUM_SERVER, type Failure, type Server } from './discovery';

/** What was tried, and why each failed. */
export function tried(failures: readonly Failure[]): string[] {
  return failures.map(({ candidate, reason }) => `${candidate.origin} (${candidate.command.join(' ')}) ${reason}`);
}

/** What to say when no Python can run the server. `asks`: an environment of our own is what is offered. */
export function notFound(failures: readonly Failure[], trusted: boolean, asks: boolean): string {
  const need = `it needs a Python ${MINIMUM_PYTHON} or newer in which loaderlint ${MINIMUM_SERVER} or newer is installed`;
  const trust = trusted ? '' : ' This workspace is not trusted, so its own interpreter was not tried.';
  const offer = ' Set Up makes an environment that is its own (some 70 MB, from the Python package index); yours stay as they are.';
  return `loaderlint is not running: ${need}. Tried: ${tried(failures).join('; ')}.${trust}${asks ? offer : ''}`;
}

/** What to say when the environment of our own could not be made. */
export function notMade(reason: string): string {
  return `loaderlint could not set itself up: ${reason}`;
}

/** What to say when the server did not start. `last`: its last line on stderr, '' if there is none. */
export function notStarted(server: Server, error: string, last: string): string {
  return `loaderlint did not start with '${server.command.join(' ')}' (${server.origin}): ${last || error}`;
}

/** What to say when the server stopped too often. `last`: its last line on stderr, '' if there is none. */
export function crashed(times: number, last: string): string {
  const reason = last ? `The last thing it said: ${last}` : 'It gave no reason.';
  return `The loaderlint server stopped ${times} times within three minutes and stays off. ${reason}`;
}

/** What to say about a server that runs, but may not understand this client. */
export function tooOld(version: string): string {
  return `This extension needs loaderlint ${MINIMUM_SERVER} or newer; the server is ${version}. Some features will fail.`;
}

/** What to say when the whole workspace was checked. */
export function checked({ findings, files }: { findings: number; files: number }): string {
  const several = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const kept = 'The findings of all files are shown from now on.';
  return findings ? `loaderlint: ${several(findings, 'finding')} in ${several(files, 'file')}. ${kept}` : 'loaderlint: no findings.';
}

/** A text that can be given to others: `~` for the home folder, no names and passwords in URLs. */
export function withoutSecrets(text: string, home: string): string {
  return text.replaceAll(home, '~').replace(/:\/\/[^/\s@]+@/g, '://');
}
