import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coalesced } from '../src/coalesced';

test('calls during a run are joined into one run after it', async () => {
  const gates: (() => void)[] = [];
  const restart = coalesced(() => new Promise<void>((resolve) => void gates.push(resolve)));
  const first = restart();
  const joined = [restart(), restart(), restart()];
  assert.equal(gates.length, 1, 'two runs at a time');
  gates[0]?.();
  await new Promise(setImmediate);
  assert.equal(gates.length, 2, 'what was asked for during the first run was forgotten');
  gates[1]?.();
  await Promise.all([first, ...joined]);
  assert.equal(gates.length, 2, 'more than one run was added');
  const later = restart();
  assert.equal(gates.length, 3, 'a later call does nothing');
  gates[2]?.();
  await later;
});

test('a run that fails does not block the next one', async () => {
  let runs = 0;
  const restart = coalesced(async () => {
    runs += 1;
    throw new Error('no');
  });
  await assert.rejects(restart());
  await assert.rejects(restart());
  assert.equal(runs, 2);
});
