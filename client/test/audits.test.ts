import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../src/audits';

test('a command line is quoted where its shell needs that', () => {
  const words = ['C:\\my python\\python.exe', '-m', 'loaderlint', 'a b.py'];
  assert.equal(commandLine(words, 'C:\\Windows\\System32\\cmd.exe'), '"C:\\my python\\python.exe" -m loaderlint "a b.py" ');
  assert.equal(commandLine(words, 'C:\\Program Files\\PowerShell\\7\\pwsh.exe'), '& "C:\\my python\\python.exe" -m loaderlint "a b.py" ');
  assert.equal(commandLine(['python', 'a b.py'], '/usr/bin/pwsh'), 'python "a b.py" ');
});
