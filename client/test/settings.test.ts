import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandPath, serverCommand } from '../src/settings';

test('a server path is a program or a whole command', () => {
  assert.deepEqual(serverCommand('/opt/loaderlint', '/home/me'), ['/opt/loaderlint', 'server']);
  assert.deepEqual(serverCommand(['python', '-m', 'loaderlint', 'server'], '/home/me'), ['python', '-m', 'loaderlint', 'server']);
  for (const unset of [null, undefined, '', '  ', [], ['']]) assert.equal(serverCommand(unset, '/home/me'), undefined);
});

test('the home folder and the workspace folder are filled in, whatever characters they hold', () => {
  assert.deepEqual(serverCommand('${workspaceFolder}/.venv/bin/loaderlint', '/h', '/w/$&'), ['/w/$&/.venv/bin/loaderlint', 'server']);
  assert.equal(expandPath(' ~/bin/python ', '/home/$&'), '/home/$&/bin/python');
  assert.equal(expandPath('~', '/home/me'), '/home/me');
  assert.equal(expandPath('~other/python', '/home/me'), '~other/python');
});
