import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { Environment } from '../src/environment';
import type { Run } from '../src/discovery';

/** A wheel, a place for environments, and a machine on which making one does what `make` says. */
function setting(context: TestContext, make: (command: readonly string[]) => string = () => 'done') {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loaderlint-environment-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const [wheel, storage] = [path.join(folder, 'loaderlint-0.1.0-py3-none-any.whl'), path.join(folder, 'storage')];
  fs.writeFileSync(wheel, 'the contents');
  const [calls, log]: [string[][], string[]] = [[], []];
  const run: Run = async (command) => {
    calls.push([...command]);
    const said = make(command);
    fs.mkdirSync(command.at(-1)!, { recursive: true });
    return said;
  };
  return { wheel, storage, calls, log, open: () => new Environment(storage, wheel, run, (text) => log.push(text)) };
}

function failing(stderr: string): never {
  throw Object.assign(new Error('Command failed: python3 -I -c ...'), { stdout: 'all that pip said', stderr });
}

const never = new AbortController().signal;

test('there is none before it is made, and then its Python is a candidate', async (context) => {
  const { open, calls, storage, wheel } = setting(context);
  const environment = open();
  assert.deepEqual([...environment.candidates()], []);
  assert.ok(!environment.isOutdated);
  await environment.make(['/usr/bin/python3'], never);
  assert.deepEqual(calls[0]?.slice(0, 3), ['/usr/bin/python3', '-I', '-c']);
  assert.equal(calls[0]?.at(-2), wheel);
  const [candidate] = [...environment.candidates()];
  assert.ok(candidate?.command[0]?.startsWith(path.join(storage, 'server-0.1.0-')));
  assert.ok(!environment.isOutdated);
});

test('one that was made from another wheel is outdated, whatever its version', async (context) => {
  const { open, wheel } = setting(context);
  await open().make(['python3'], never);
  fs.writeFileSync(wheel, 'other contents');
  const updated = open();
  assert.ok(updated.isOutdated);
  assert.deepEqual([...updated.candidates()], []);
  await updated.make(['python3'], never);
  assert.ok(!updated.isOutdated);
});

test('what is half made is none', (context) => {
  const { open, storage } = setting(context);
  fs.mkdirSync(path.join(storage, 'making-x1'), { recursive: true });
  assert.deepEqual([...open().candidates()], []);
  assert.ok(!open().isOutdated);
});

test('a Python without venv is followed by the next one', async (context) => {
  const { open, calls } = setting(context, ([python]) => (python === 'bare' ? failing('bare has no venv module; install it\n') : 'done'));
  await open().make(['bare', 'good', 'unasked'], never);
  assert.deepEqual(calls.map(([python]) => python), ['bare', 'good']);
});

test('a failure of pip is the end, told by its last line, and the log has the rest', async (context) => {
  const { open, calls, log } = setting(context, () => failing('noise\npip failed: no space left\n'));
  await assert.rejects(open().make(['one', 'two'], never), { message: 'pip failed: no space left' });
  assert.deepEqual([calls.length, log], [1, ['all that pip said']]);
});

test('cancelling is told as that', async (context) => {
  const stop = new AbortController();
  const { open } = setting(context, () => {
    stop.abort();
    return failing('');
  });
  await assert.rejects(open().make(['one', 'two'], stop.signal), { message: 'it was cancelled' });
});
