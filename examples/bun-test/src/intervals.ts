/** From `start` to `end`, both included. */
export interface Interval {
  start: number;
  end: number;
}

/** The same numbers in as few intervals as will do, in order. */
export function merge(intervals: Interval[]): Interval[] {
  const merged: Interval[] = [];
  for (const next of [...intervals].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last && next.start < last.end) {
      last.end = next.end;
    } else {
      merged.push({ ...next });
    }
  }
  return merged;
}
