/** The oldest server that this client works with, and the oldest Python that can run it. */
export const MINIMUM_SERVER = '0.1.0';
export const MINIMUM_PYTHON = '3.10';

/** A Python that may be able to run the server. `command` starts it; `origin` tells users where it comes from. */
export interface Candidate {
  readonly origin: string;
  readonly command: readonly string[];
}
/** How to start the server. `version` is undefined if the user set the command, because it was not asked for its version. */
export interface Server extends Candidate {
  readonly version?: string;
}
/** Why a candidate cannot run the server. `usable`: the path of a Python that is new enough to make an environment with. */
export interface Failure {
  readonly candidate: Candidate;
  readonly reason: string;
  readonly usable?: string;
}
/** The server, if there is one, and the candidates that failed before it. */
export interface Found {
  readonly server?: Server;
  readonly failures: readonly Failure[];
}
/** Runs a program to its end and returns its output; rejects if it cannot be started, fails or takes too long. */
export type Run = (command: readonly string[], options?: { timeout?: number; signal?: AbortSignal }) => Promise<string>;

const MARK = 'loaderlint-probe ';
// Every Python must understand this, even one that is far too old for the server.
const PROBE = `
import json, os, platform, site, sys
version = problem = None
try:
    import loaderlint
    version = loaderlint.__version__
except Exception as error:
    problem = "cannot import loaderlint: %s" % error
    if "No module named" in problem and "loaderlint" in str(error):
        problem = "has no loaderlint"
        if os.path.isdir(os.path.join(site.getusersitepackages(), "loaderlint")):
            problem = "has loaderlint only in the user's site-packages, which the extension ignores (set loaderlint.server.path)"
answer = {"python": platform.python_version(), "executable": sys.executable, "version": version, "problem": problem}
print("${MARK}" + json.dumps(answer))
`;
type Answer = Record<'python' | 'executable' | 'problem', string> & { readonly version: string | null };

/** The first of `candidates` that can run the server. Each Python is asked only once. */
export async function findServer(candidates: AsyncIterable<Candidate>, run: Run): Promise<Found> {
  const failures: Failure[] = [];
  for await (const candidate of candidates) {
    if (failures.some((failure) => failure.candidate.command.join() === candidate.command.join())) continue;
    const result = await probe(candidate, run);
    if ('command' in result) return { server: result, failures };
    failures.push(result);
  }
  return { failures };
}

/** Ask one Python whether it can run the server. */
export async function probe(candidate: Candidate, run: Run): Promise<Server | Failure> {
  let output: string;
  try {
    // -I excludes the project's own modules: an attrs.py of the project must not replace the library.
    output = await run([...candidate.command, '-I', '-c', PROBE]);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: string };
    return { candidate, reason: `cannot be run (${typeof code === 'string' ? code : message?.split('\n', 1)[0]})` };
  }
  const line = output.split(/\r?\n/).find((text) => text.startsWith(MARK));
  if (line === undefined) return { candidate, reason: 'does not answer like a Python' };
  const { python, executable, version, problem } = JSON.parse(line.slice(MARK.length)) as Answer;
  if (!atLeast(python, MINIMUM_PYTHON)) return { candidate, reason: `is Python ${python}, which is too old` };
  if (version === null) return { candidate, reason: problem, usable: executable };
  if (!atLeast(version, MINIMUM_SERVER)) {
    return { candidate, reason: `has loaderlint ${version}, older than ${MINIMUM_SERVER}`, usable: executable };
  }
  return { origin: candidate.origin, command: [executable, '-I', '-m', 'loaderlint', 'server'], version };
}

/** Whether `version` ('1.2.3', '1.2.0rc1', '3.10.4') is not older than `minimum`. A pre-release counts as its release. */
export function atLeast(version: string, minimum: string): boolean {
  const [have, want] = [version, minimum].map((text) => /^\d+(\.\d+)*/.exec(text)?.[0].split('.').map(Number) ?? []);
  const differing = want!.findIndex((part, i) => part !== (have![i] ?? 0));
  return differing === -1 || (have![differing] ?? 0) > want![differing]!;
}
