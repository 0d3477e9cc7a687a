/** Runs of a chat that are stopped: by their user, or for others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { STORE_AWAY, unlessStoreAway } from '../client/index.js';
import { Problem } from '../console/http/problem.js';
import { awayOf, newestOf, onlyWhenGone, stoppable, type Chat } from './chat.js';
import type { Deliveries } from './deliveries.js';

/** Sub-agents end with the run above them. */
const isNoSubAgent = (runId: string): boolean => !/:a\d/.test(runId);

/**
 * Interrupts what is under way, each run once: at once what Temporal's list has and what this process started last, and what
 * the store has of the chat when it answers in time. Errors: StoreUnavailable where it does not, and no run was reached.
 */
export async function interruptAll(deliveries: Deliveries, given: Chat): Promise<void> {
  const { client } = given;
  const stopped = new Map<string, Promise<boolean>>();
  const stop = (runId: string): Promise<boolean> => {
    const isReached =
      stopped.get(runId) ??
      client
        .handle(runId)
        .interrupt()
        .then(
          () => true,
          (error: unknown) => onlyWhenGone(error) ?? false,
        );
    stopped.set(runId, isReached);
    return isReached;
  };
  // Runs that begin after the store was read are not meant.
  let isKnown = false;
  const reached = runningOf(deliveries, given).then((runs) =>
    Promise.all(isKnown ? [] : [...runs].map(stop)),
  );
  reached.catch(() => undefined);
  const open = await unlessStoreAway(given, async () =>
    stoppable(deliveries, await newestOf(deliveries, given)),
  );
  if (open === STORE_AWAY) {
    if (!(await reached).includes(true)) throw awayOf(given);
    return;
  }
  isKnown = true;
  await Promise.all([...open.map(stop), ...stopped.values()]);
}

/** A run that has just begun is not yet in the list, and one that has just ended still is. */
async function runningOf(
  { unopened, branches }: Deliveries,
  { client, base }: Chat,
): Promise<ReadonlySet<string>> {
  const listed = await client.conversations.running(`${base}.`);
  const begun = [base, branches.get(base) ?? base].flatMap((id) => unopened.get(id)?.runId ?? []);
  return new Set([...listed.filter(isNoSubAgent), ...begun]);
}

/** How long runs that are stopped may take to end, and how often they are looked at, in ms. */
const STOP_MS = 30_000;
const LOOK_MS = 150;
/** Looks after which a run that is still open is closed once more. */
const LOOKS_TO_CLOSE = 10;

/** Errors: a Problem for a run that does not end. */
export async function stopAll(
  { client, sessionId }: Chat,
  runs: readonly string[],
  { stopMs = STOP_MS, lookMs = LOOK_MS } = {},
): Promise<void> {
  if (runs.length === 0) return;
  for (const runId of runs) {
    const run = client.handle(runId);
    await run.interrupt().catch(onlyWhenGone);
    // A conversation that an interrupt pauses would wait for its user.
    await run.close().catch(onlyWhenGone);
  }
  const until = performance.now() + stopMs;
  for (let looks = 1; performance.now() < until; looks += 1) {
    const open = await stillOpen(client, runs);
    if (open.length === 0 && (await client.session(sessionId)).openRuns.length === 0) return;
    // The interrupt may have taken the close with it: the run pauses then.
    if (looks % LOOKS_TO_CLOSE === 0) await closeAll(client, open);
    await sleep(lookMs);
  }
  const detail = 'The answer before is still being stopped.';
  throw new Problem(409, { code: 'busy', detail, hint: 'Send the message again in a moment.' });
}

async function stillOpen(
  client: Chat['client'],
  runs: readonly string[],
): Promise<readonly string[]> {
  const ends = runs.map((runId) => client.handle(runId).execution('brief').catch(onlyWhenGone));
  const executions = await Promise.all(ends);
  return runs.filter((_, index) => executions[index]?.closed === false);
}

async function closeAll(client: Chat['client'], runs: readonly string[]): Promise<void> {
  for (const runId of runs) await client.handle(runId).close().catch(onlyWhenGone);
}
