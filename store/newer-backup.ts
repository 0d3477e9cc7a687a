/** What is to be done about a run that needs what the store does not have. */

export const NEWER_BACKUP =
  'Restore the store from a backup that is at least as new as the Temporal database. Where there is none, `holdfast cancel RUN` ends the run.';

/** The same of a run that has come to its end: nothing but its last messages is missing (activities/run/close-run.ts). */
export const NEWER_BACKUP_OR_WAIT =
  'Restore the store from a backup that is at least as new as the Temporal database. Where there is none, the run ends without its last messages by itself: a cancelled one with its next try in a store that is known to be a copy, else ten minutes after this wait began; another one after a day.';
