/**
 * Where this workflow is within an activation. Temporal applies all jobs of one, then lets every promise run that they have
 * settled, and then asks the conditions; it asks them as well after each job, when the next ones are not applied yet.
 * One per workflow: whatever is not shared (shared.ts) is loaded for each.
 */
type Place = 'applying' | 'applied' | 'asked';

let place: Place = 'applied';

/** Applies the jobs of an activation. */
export function applying(apply: () => void): void {
  place = 'applying';
  try {
    apply();
  } finally {
    place = 'applied';
  }
}

/** For a condition: whether all that came together is there. Nobody asks again then before something settles a condition. */
export function isWhole(): boolean {
  if (place === 'applying') return false;
  place = 'asked';
  return true;
}

/** Whether the conditions have been asked already, so that what comes now has nobody who asks for it. */
export function isLate(): boolean {
  return place === 'asked';
}
