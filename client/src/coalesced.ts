/**
 * A function that runs `task`, but never twice at the same time: calls during a run cause one more run after it.
 * Its promise settles when no run is left.
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
