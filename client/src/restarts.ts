/**
 * Run `task` on each call, but never twice at a time: calls during a run are joined into one run after it.
 * The promise settles when no run is left to do.
 */
export function coalesced(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  const loop = async (): Promise<void> => {
    for (; again; await task()) again = false;
  };
  return () => {
    again = true;
    return (running ??= loop().finally(() => (running = undefined)));
  };
}

/** A counter to be called at each stop with the time: how many were within `window` (milliseconds) if over `limit`, else 0. */
export function crashCounter(limit = 4, window = 180_000): (now: number) => number {
  let times: number[] = [];
  return (now) => {
    times = [...times.filter((time) => now - time <= window), now];
    return times.length > limit ? times.length : 0;
  };
}
