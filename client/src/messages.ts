import { MINIMUM_PYTHON, MINIMUM_SERVER, type Failure, type Server } from './discovery';

/** The candidates that were tried, and why each failed. */
export function tried(failures: readonly Failure[]): string[] {
  return failures.map(({ candidate, reason }) => `${candidate.origin} (${candidate.command.join(' ')}) ${reason}`);
}

/** The message that offers to create our own environment. */
export function offer(trusted: boolean): string {
  const untrusted = trusted ? '' : ' This workspace is not trusted, so its own interpreter was not tried.';
  return `loaderlint needs a Python environment to run in. Set Up creates one (about 70 MB, from the package index) and does not change yours.${untrusted}`;
}

/** The message if no Python can run the server or create an environment. */
export function notFound(failures: readonly Failure[], trusted: boolean): string {
  const untrusted = trusted ? '' : ' This workspace is not trusted, so its own interpreter was not tried.';
  return `loaderlint needs Python ${MINIMUM_PYTHON} or newer and found none. Tried: ${tried(failures).join('; ')}.${untrusted}`;
}

/** The message if the server did not start. `reason`: the server's error on stderr, '' if there is none. */
export function notStarted(server: Server, error: string, reason: string): string {
  return `loaderlint did not start with '${server.command.join(' ')}' (${server.origin}): ${reason || error}`;
}

/** The message if the server stopped too often. `reason`: the server's error on stderr, '' if there is none. */
export function crashed(times: number, reason: string): string {
  const why = reason ? `Its last error: ${reason}` : 'It gave no reason.';
  return `The loaderlint server stopped ${times} times within three minutes and is off now. ${why}`;
}

/** The message about a server that runs, but may be too old for this client. */
export function tooOld(version: string): string {
  return `This extension needs loaderlint ${MINIMUM_SERVER} or newer; the server is ${version}. Some features will fail.`;
}
