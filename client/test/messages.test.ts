import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashed, notFound, notStarted, offer, tooOld } from '../src/messages';

const failures = [
  { candidate: { origin: 'the selected interpreter', command: ['/p/.venv/bin/python'] }, reason: 'is Python 3.8, which is too old' },
  { candidate: { origin: 'python3 on the PATH', command: ['python3'] }, reason: 'cannot be run (ENOENT)' },
];

test('the message says what was tried, and why it failed', () => {
  const text = notFound(failures, true);
  assert.match(text, /the selected interpreter \(\/p\/\.venv\/bin\/python\) is Python 3\.8, which is too old; python3 on the PATH/);
  assert.doesNotMatch(text, /trusted/);
});

test('where an environment can be made, the message says what that would do', () => {
  assert.match(offer(true), /Set Up creates one \(about 70 MB, .*does not change yours\.$/);
});

test('in an untrusted workspace the message says that less was tried', () => {
  for (const text of [notFound(failures, false), offer(false)]) assert.match(text, /not trusted, so its own interpreter was not tried/);
});

test('a server that did not start or stopped is told by its last words', () => {
  const server = { origin: 'the setting', command: ['/opt/loaderlint', 'server'] };
  assert.match(notStarted(server, 'Error: closed', 'ImportError: no libcst'), /'\/opt\/loaderlint server' \(the setting\): ImportError: no libcst$/);
  assert.match(notStarted(server, 'Error: spawn ENOENT', ''), /spawn ENOENT$/);
  assert.match(crashed(5, 'MemoryError'), /5 times .* Its last error: MemoryError$/);
  assert.match(crashed(5, ''), /gave no reason/);
  assert.match(tooOld('0.0.3'), /0\.0\.3/);
});
