/**
 * Whether Temporal still applies the jobs of an activation. It applies them one after the other, then lets all promises run
 * that they have settled, and then asks the conditions; it asks them as well after each job, when the next ones are not
 * applied yet.
 * One per workflow: whatever is not shared (shared.ts) is loaded for each.
 */
let isUnderWay = false;
let count = 0;

/** Applies the jobs of an activation. */
export function applying(apply: () => void): void {
  isUnderWay = true;
  count += 1;
  try {
    apply();
  } finally {
    isUnderWay = false;
  }
}

/** For a condition: false while more may come with what is there. */
export function isApplied(): boolean {
  return !isUnderWay;
}

/** A number that each activation has for itself. */
export function activation(): number {
  return count;
}
