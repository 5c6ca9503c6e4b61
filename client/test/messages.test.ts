import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashed, installLine, notFound, notStarted, tooOld } from '../src/messages';

const failures = [
  { candidate: { origin: 'the selected interpreter', command: ['/p/.venv/bin/python'] }, reason: 'has no loaderlint' },
  { candidate: { origin: 'python3 on the PATH', command: ['python3'] }, reason: 'cannot be run (ENOENT)' },
];

test('the message says what was tried, and why it failed', () => {
  const text = notFound(failures, true);
  assert.match(text, /the selected interpreter \(\/p\/\.venv\/bin\/python\) has no loaderlint; python3 on the PATH/);
  assert.doesNotMatch(text, /trusted/);
});

test('in an untrusted workspace the message says that less was tried', () => {
  assert.match(notFound(failures, false), /not trusted, so its own interpreter was not tried/);
});

test('a server that did not start or stopped is told by its last words', () => {
  const server = { origin: 'the setting', command: ['/opt/loaderlint', 'server'] };
  assert.match(notStarted(server, 'Error: closed', 'ImportError: no libcst'), /'\/opt\/loaderlint server' \(the setting\): ImportError: no libcst$/);
  assert.match(notStarted(server, 'Error: spawn ENOENT', ''), /spawn ENOENT$/);
  assert.match(crashed(5, 'MemoryError'), /5 times .* The last thing it said: MemoryError$/);
  assert.match(crashed(5, ''), /gave no reason/);
  assert.match(tooOld('0.0.3'), /0\.0\.3/);
});

test('the install line is quoted for the shell of the terminal', () => {
  const rest = ' -m pip install --upgrade loaderlint';
  const lines: [python: string, shell: string, expected: string][] = [
    ['/p/.venv/bin/python', '/bin/bash', '/p/.venv/bin/python'],
    ["/my project's/python", '/usr/bin/zsh', `'/my project'\\''s/python'`],
    ['/p/$(reboot)/python', '/usr/bin/fish', "'/p/$(reboot)/python'"],
    ['C:\\p\\python.exe', 'C:\\Program Files\\Git\\bin\\bash.exe', "'C:\\p\\python.exe'"],
    ['C:\\p\\python.exe', 'C:\\Windows\\System32\\cmd.exe', 'C:\\p\\python.exe'],
    ['C:\\my p\\python.exe', 'C:\\Windows\\System32\\cmd.exe', '"C:\\my p\\python.exe"'],
    ["C:\\it's\\python.exe", 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe', "& 'C:\\it''s\\python.exe'"],
    ['/opt/my py/python', '/usr/bin/pwsh', "& '/opt/my py/python'"],
  ];
  for (const [python, shell, expected] of lines) assert.equal(installLine(python, shell), expected + rest);
});
