/** One Temporal server for all tests of a run of jest that need none of their own. */
import type { OnProgress } from '../devserver/index.js';
import { startTestServer, type TestServer } from '../testing/temporal-server.js';

/** Set by the global setup; worker processes of jest inherit the variable. */
const VARIABLE = 'HOLDFAST_TEST_TEMPORAL';

let started: TestServer | undefined;

/** For the global setup, of whose process the server is a child. */
export async function startTemporal(onProgress: OnProgress): Promise<void> {
  started = await startTestServer({ environment: process.env, onProgress });
  process.env[VARIABLE] = started.address;
}

/** For the global teardown; undefined: it was not started. */
export const temporalPid = (): number | undefined => started?.pid;

/** For the global teardown. */
export async function stopTemporal(): Promise<void> {
  // At once: its data is for nobody.
  await started?.kill();
  await started?.stop();
}

/** The address of the server. */
export function sharedTemporal(): string {
  const address = process.env[VARIABLE];
  if (address === undefined) throw new Error('The global setup of the tests starts the server.');
  return address;
}
