import { MINIMUM_PYTHON, MINIMUM_SERVER, type Failure, type Server } from './discovery';

/** What to say when no Python can run the server: what was tried, and why each failed. */
export function notFound(failures: readonly Failure[], trusted: boolean): string {
  const tried = failures.map(({ candidate, reason }) => `${candidate.origin} (${candidate.command.join(' ')}) ${reason}`);
  const trust = trusted ? '' : ' This workspace is not trusted, so its own interpreter was not tried.';
  const need = `it needs a Python ${MINIMUM_PYTHON} or newer in which loaderlint ${MINIMUM_SERVER} or newer is installed`;
  return `loaderlint is not running: ${need}. Tried: ${tried.join('; ')}.${trust}`;
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

/** The line for a terminal that puts loaderlint into the Python at `python`; `shell` is the path of its shell. */
export function installLine(python: string, shell: string): string {
  const windowsShell = /(powershell|pwsh|cmd)(\.exe)?$/i.exec(shell)?.[1]?.toLowerCase();
  return `${quoted(python, windowsShell)} -m pip install --upgrade loaderlint`;
}

function quoted(word: string, windowsShell: string | undefined): string {
  if (windowsShell === undefined) return /^[\w./+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
  if (/^[\w.:\\/+-]+$/.test(word)) return word;
  return windowsShell === 'cmd' ? `"${word}"` : `& '${word.replaceAll("'", "''")}'`;
}
