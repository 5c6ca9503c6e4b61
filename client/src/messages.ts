import { MINIMUM_PYTHON, MINIMUM_SERVER, type Failure, type Server } from './discovery';

/** What was tried, and why each failed. */
export function tried(failures: readonly Failure[]): string[] {
  return failures.map(({ candidate, reason }) => `${candidate.origin} (${candidate.command.join(' ')}) ${reason}`);
}

/** What to say when an environment of our own is the next step. */
export function offer(trusted: boolean): string {
  const untrusted = trusted ? '' : ' This workspace is not trusted, so its own interpreter was not tried.';
  return `loaderlint needs a Python environment to run in. Set Up creates one (about 70 MB, from the package index) and does not change yours.${untrusted}`;
}

/** What to say when no Python can run the server, nor make an environment. */
export function notFound(failures: readonly Failure[], trusted: boolean): string {
  const untrusted = trusted ? '' : ' This workspace is not trusted, so its own interpreter was not tried.';
  return `loaderlint needs Python ${MINIMUM_PYTHON} or newer and found none. Tried: ${tried(failures).join('; ')}.${untrusted}`;
}

/** What to say when the server did not start. `reason`: its own words on stderr, '' if there are none. */
export function notStarted(server: Server, error: string, reason: string): string {
  return `loaderlint did not start with '${server.command.join(' ')}' (${server.origin}): ${reason || error}`;
}

/** What to say when the server stopped too often. `reason`: its own words on stderr, '' if there are none. */
export function crashed(times: number, reason: string): string {
  const why = reason ? `Its last error: ${reason}` : 'It gave no reason.';
  return `The loaderlint server stopped ${times} times within three minutes and is off now. ${why}`;
}

/** What to say about a server that runs, but may not understand this client. */
export function tooOld(version: string): string {
  return `This extension needs loaderlint ${MINIMUM_SERVER} or newer; the server is ${version}. Some features will fail.`;
}
