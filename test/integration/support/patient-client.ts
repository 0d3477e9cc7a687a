import { connect, type ConnectOptions, type HoldfastClient } from '../../../client/index.js';

/** Longest wait for a start to be open, in ms: below the time limit of a test, above that of a busy machine. */
const OPEN_LIMIT_MS = 120_000;

/** A client whose starts wait longer than by default: what a test says of a run does not depend on the machine's load. */
export async function patientClient(options: ConnectOptions): Promise<HoldfastClient> {
  return patient(await connect(options));
}

function patient(client: HoldfastClient): HoldfastClient {
  return {
    ...client,
    start: (options) => client.start({ openLimitMs: OPEN_LIMIT_MS, ...options }),
    startGoal: (options) => client.startGoal({ openLimitMs: OPEN_LIMIT_MS, ...options }),
    forTenant: (tenant) => patient(client.forTenant(tenant)),
  };
}
