/** A counter to be called at each stop with the time: how many were within `window` (milliseconds) if over `limit`, else 0. */
export function crashCounter(limit = 4, window = 180_000): (now: number) => number {
  let times: number[] = [];
  return (now) => {
    times = [...times.filter((time) => now - time <= window), now];
    return times.length > limit ? times.length : 0;
  };
}
