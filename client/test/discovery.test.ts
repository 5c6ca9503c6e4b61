import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { atLeast, findServer, MINIMUM_SERVER, type Candidate, type Failure, type Run } from '../src/discovery';

async function* candidates(...commands: string[][]): AsyncGenerator<Candidate> {
  for (const command of commands) yield { origin: `origin of ${command[0]}`, command };
}

/** A machine on which each program prints the given answer of the probe; another text is printed as it is. */
function machine(programs: Record<string, object | string>, calls: string[][] = []): Run {
  return async (command) => {
    calls.push([...command]);
    const answer = programs[command[0] ?? ''];
    if (answer === undefined) throw Object.assign(new Error(`spawn ${command[0]} ENOENT`), { code: 'ENOENT' });
    const complete = { python: '3.12.1', executable: `/real/${command[0]}`, version: null, problem: null };
    return typeof answer === 'string' ? answer : `a greeting\r\nloaderlint-probe ${JSON.stringify({ ...complete, ...answer })}\r\n`;
  };
}

async function failuresOf(...args: Parameters<typeof findServer>): Promise<Failure[]> {
  const { server, failures } = await findServer(...args);
  assert.equal(server, undefined);
  return [...failures];
}

test('the first Python that has loaderlint runs the server, by the path that it says itself', async () => {
  const calls: string[][] = [];
  const run = machine({ bare: { problem: 'has no loaderlint' }, good: { version: '0.1.0' }, later: { version: '9.9' } }, calls);
  const { server, failures } = await findServer(candidates(['bare'], ['good'], ['later']), run);
  const command = ['/real/good', '-I', '-m', 'loaderlint', 'server'];
  assert.deepEqual(server, { origin: 'origin of good', command, version: '0.1.0' });
  assert.deepEqual(calls.map((call) => call[0]), ['bare', 'good']);
  assert.deepEqual(failures.map(({ reason }) => reason), ['has no loaderlint'], 'why the one before it was not taken');
});

test('the probe runs isolated, after the arguments that the environment asks for', async () => {
  const calls: string[][] = [];
  await findServer(candidates(['conda', 'run', 'python']), machine({ conda: { version: '0.1.0' } }, calls));
  assert.deepEqual(calls[0]?.slice(0, 5), ['conda', 'run', 'python', '-I', '-c']);
});

test('each failure has its own reason, and says which Python could make an environment', async () => {
  const run = machine({
    bare: { problem: 'has no loaderlint' },
    ancient: { python: '3.8.20', version: '0.1.0' },
    outdated: { version: '0.0.9' },
    shim: 'This is not Python',
  });
  const failures = await failuresOf(candidates(['bare'], ['ancient'], ['outdated'], ['shim'], ['nowhere']), run);
  assert.deepEqual(failures.map(({ reason, usable }) => [reason, usable]), [
    ['has no loaderlint', '/real/bare'],
    ['is Python 3.8.20, which is too old', undefined],
    [`has loaderlint 0.0.9, older than ${MINIMUM_SERVER}`, '/real/outdated'],
    ['does not answer like a Python', undefined],
    ['cannot be run (ENOENT)', undefined],
  ]);
});

test('the same Python is asked only once', async () => {
  const calls: string[][] = [];
  const failures = await failuresOf(candidates(['bare'], ['bare'], ['bare', '-X', 'dev']), machine({ bare: {} }, calls));
  assert.equal(calls.length, 2);
  assert.equal(failures.length, 2);
});

test('an exit code is told by the first line of its message', async () => {
  const run: Run = async () => Promise.reject(Object.assign(new Error('Command failed: python3\nTraceback'), { code: 1 }));
  assert.equal((await failuresOf(candidates(['python3']), run))[0]?.reason, 'cannot be run (Command failed: python3)');
});

test('a real Python understands the probe', async (context) => {
  const run: Run = ([program = '', ...args]) =>
    new Promise((resolve, reject) => execFile(program, args, (error, stdout) => (error ? reject(error) : resolve(stdout))));
  const { server, failures } = await findServer(candidates(['python3']), run);
  if (server) {
    assert.equal(server.command[1], '-I');
  } else if (failures[0]?.reason === 'cannot be run (ENOENT)') {
    context.skip('there is no python3 on the PATH');
  } else {
    assert.match(failures[0]?.reason ?? '', /^(has no loaderlint|has loaderlint|is Python 3|cannot import loaderlint)/);
  }
});

test('versions are compared by number', () => {
  for (const newer of ['0.1.0', '0.1', '0.1.0rc1', '0.1.0.dev3+g12', '0.10.0', '1.0']) assert.ok(atLeast(newer, '0.1.0'), newer);
  for (const older of ['0.0.9', '0.0.10', '0', '', 'unknown']) assert.ok(!atLeast(older, '0.1.0'), older);
  assert.ok(!atLeast('3.9.20', '3.10') && atLeast('3.13.0rc2', '3.10'));
});
