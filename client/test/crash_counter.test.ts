import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashCounter } from '../src/crash_counter';

test('only stops that are close together are too many', () => {
  const close = crashCounter(2, 100);
  assert.deepEqual([0, 50, 100, 100].map(close), [0, 0, 3, 4]);
  const apart = crashCounter(2, 100);
  assert.deepEqual([0, 90, 180, 270, 360].map(apart), [0, 0, 0, 0, 0]);
});
