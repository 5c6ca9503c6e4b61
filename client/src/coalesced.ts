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
