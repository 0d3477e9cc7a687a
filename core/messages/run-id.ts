/** Ids of runs, as far as the run itself refuses one. */

/** `.` and `..` mean something else in every path and URL: nobody could reach a run of that name. */
export function isReachable(runId: string): boolean {
  return runId !== '.' && runId !== '..';
}
