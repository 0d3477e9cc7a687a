/** The seed of a test's choices: HOLDFAST_SEED repeats them, and HOLDFAST_WHOLE=1 leaves nothing to choose. */

/** The global setup draws one for a run of all tests. */
export const SEED = Number(process.env['HOLDFAST_SEED']);

/** Whether everything is played that is otherwise sampled: .ci/tests-long. */
export const WHOLE = process.env['HOLDFAST_WHOLE'] === '1';

/** Told at the end of all tests: by it a failure is repeated. */
export function saySeed(what: string): void {
  console.log(`HOLDFAST_SEED=${SEED}: ${what}`);
}
