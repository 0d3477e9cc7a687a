/**
 * How long clients of tests wait for a worker, in ms. A worker of a busy machine may be longer than the five seconds of
 * users, and is not silent for it. A test of a worker that is away gives its clients less.
 */
export const PATIENT = { workerLimitMs: 60_000 } as const;
/** That of users. */
export const IMPATIENT = { workerLimitMs: 5_000 } as const;
