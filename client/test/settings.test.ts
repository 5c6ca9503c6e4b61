import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandPath, serverCommand } from '../src/settings';

test('a server is a program and its arguments', () => {
  assert.deepEqual(serverCommand('/opt/loaderlint', ['server'], '/home/me'), ['/opt/loaderlint', 'server']);
  for (const unset of ['', '  ']) assert.equal(serverCommand(unset, ['server'], '/home/me'), undefined);
});

test('the home folder and the workspace folder are filled in, whatever characters they hold', () => {
  assert.deepEqual(serverCommand('${workspaceFolder}/.venv/bin/loaderlint', ['~'], '/h', '/w/$&'), ['/w/$&/.venv/bin/loaderlint', '/h']);
  assert.equal(expandPath(' ~/bin/python ', '/home/$&'), '/home/$&/bin/python');
  assert.equal(expandPath('~', '/home/me'), '/home/me');
  assert.equal(expandPath('~other/python', '/home/me'), '~other/python');
});
