/**
 * A counter to call with the time of each stop. It returns how many stops were within `window` (milliseconds) if they
 * are more than `limit`, else 0.
 */
export function crashCounter(limit = 4, window = 180_000): (now: number) => number {
  let times: number[] = [];
  return (now) => {
    times = [...times.filter((time) => now - time <= window), now];
    return times.length > limit ? times.length : 0;
  };
}
