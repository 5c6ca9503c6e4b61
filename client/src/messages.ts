import { MINIMUM_PYTHON, MINIMUM_SERVER, type Failure, type Server } from './discovery';

/** What was tried, and why each failed. */
export function tried(failures: readonly Failure[]): string[] {
  return failures.map(({ candidate, reason }) => `${candidate.origin} (${candidate.command.join(' ')}) ${reason}`);
}

/** What to say when no Python can run the server. `asks`: an environment of our own is what is offered. */
export function notFound(failures: readonly Failure[], trusted: boolean, asks: boolean): string {
  const need = `It needs a Python ${MINIMUM_PYTHON} or newer in which loaderlint ${MINIMUM_SERVER} or newer is installed`;
  const trust = trusted ? '' : ' This workspace is not trusted, so its own interpreter was not tried.';
  const offer = 'Set Up makes an environment for it (some 70 MB, from the package index) and leaves yours alone';
  return `loaderlint is not running. ${asks ? offer : need}. Tried: ${tried(failures).join('; ')}.${trust}`;
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
