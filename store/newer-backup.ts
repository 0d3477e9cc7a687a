/** What is to be done about a run that needs what the store does not have. */

export const NEWER_BACKUP =
  'Restore the store from a backup that is at least as new as the Temporal database. Where there is none, `holdfast cancel RUN` ends the run.';
