import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { reasonIn, Stderr } from '../src/stderr';

const logged: string[] = [];
const to = (level: string) => (line: string) => logged.push(`${level} ${line}`);
const log = { info: to('info'), warn: to('warn'), error: to('error') };

test('each line is logged at its level, and a traceback at that of its message', async () => {
  logged.length = 0;
  const stream = new PassThrough();
  const stderr = new Stderr(stream, log);
  stream.write('INFO loaderlint: folders\n  more\nWARNING x: slow\nERROR x: failed\nTraceback (most recent call last):\n  File\n');
  stream.end('INFO loaderlint: on\nMemoryError');
  assert.equal(await stderr.reason(), 'MemoryError');
  assert.deepEqual(logged, [
    'info INFO loaderlint: folders', 'info   more', 'warn WARNING x: slow', 'error ERROR x: failed',
    'error Traceback (most recent call last):', 'error   File', 'info INFO loaderlint: on', 'error MemoryError',
  ]);
});

test('the reason waits for what is still on the way, and not for ever', async () => {
  const stream = new PassThrough();
  const stderr = new Stderr(stream, log);
  setImmediate(() => stream.end('ImportError: no libcst\n'));
  assert.equal(await stderr.reason(), 'ImportError: no libcst');
  const silent = new Stderr(new PassThrough(), log);
  const kept = setTimeout(() => undefined, 5000); // the wait itself keeps no process alive
  assert.equal(await silent.reason(), '');
  clearTimeout(kept);
});

test('the line that belongs to a crash', () => {
  const traceback = ['Traceback (most recent call last):', '  File "a.py", line 1, in <module>', '    import x', 'ModuleNotFoundError: x'];
  assert.equal(reasonIn(traceback), 'ModuleNotFoundError: x');
  assert.equal(reasonIn([...traceback, 'WARNING asyncio: pending']), 'ModuleNotFoundError: x');
  const fatal = ['Fatal Python error: Segmentation fault', '', 'Current thread 0x7f (most recent call first):', '  File "b.py"', 'Extension modules: x'];
  assert.equal(reasonIn(fatal), 'Fatal Python error: Segmentation fault');
  assert.equal(reasonIn(['INFO loaderlint: started', 'WARNING x: slow']), '');
});
