/**
 * close_run: what the run said last enters the transcript and the events, and its session is stored.
 * Invariants: all of it is on disk together, or nothing; no session is overwritten that another run has
 * stored meanwhile: this run's conversation is then kept beside it, under an id of its own. A conversation that the
 * store has lost keeps no run open for ever: its events are stored without it, and the result says so. A run that a person
 * has cancelled does not wait for it in a store whose place an older copy has taken, which will not have it any more.
 */
import type { StateValue } from '../../core/state/dataflow.js';
import type { CloseRunInput, CloseRunOutput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isBlobRef } from '../../core/json/json.js';
import type { SavedSession, SessionCarry, SessionToSave } from '../../core/state/session.js';
import { restoredLately } from '../../store/restored.js';
import type { SessionSave } from '../../store/sessions.js';
import type { StoreCalls } from '../../store/store.js';
import { appendEvents } from './append-events.js';
import { appendItems } from './append-items.js';
import { isChildId } from '../../pure/goal/child-start.js';
import { placeBelowCycle } from '../../pure/goal/evidence.js';
import { now, type ActivityDeps, type InTransaction } from '../deps.js';
import type { Scope } from '../scope.js';

export async function closeRun(
  deps: ActivityDeps,
  scope: Scope,
  input: CloseRunInput,
): Promise<CloseRunOutput> {
  const { tenant, runId } = input.run;
  const closed = await deps.store
    .together((store) => close({ ...deps, store }, scope, input))
    .catch(async (error: unknown) => {
      if (!(await isGivenUp(deps, scope, { input, error }))) throw error;
      scope.error('The store has lost a conversation: its run was closed without its end.', {
        runId,
      });
      return deps.store.together((store) => closeWithout({ ...deps, store }, scope, input));
    });
  deps.store.live.announce({ tenant, runId });
  return closed;
}

/** A person wants the run to be over. */
const MISSING_MS_MAX_CANCELLED = 10 * 60_000;
/** As long as code that no worker serves is waited for. */
const MISSING_MS_MAX = 24 * 3_600_000;

interface Refused {
  readonly input: CloseRunInput;
  readonly error: unknown;
}

async function isGivenUp(
  deps: ActivityDeps,
  scope: Scope,
  { input, error }: Refused,
): Promise<boolean> {
  const isMissing = error instanceof HoldfastError && error.code === 'TranscriptMissing';
  if (!isMissing) return false;
  const waitedMs = now(deps) - scope.work.lackingSince('transcript');
  return waitedMs >= (await missingMsMax(deps, input));
}

async function missingMsMax(deps: ActivityDeps, input: CloseRunInput): Promise<number> {
  if (!(await isCancelled(deps, input))) return MISSING_MS_MAX;
  const { tenant, runId } = input.run;
  const at = await restoredLately(deps.store, now(deps));
  const isCopy =
    at !== undefined && ((await deps.store.getRun(tenant, runId))?.startedAt ?? 0) <= at;
  return isCopy ? 0 : MISSING_MS_MAX_CANCELLED;
}

/** Many last events, and hooks at the end, bring the result into the store before this. */
async function isCancelled(
  { store }: ActivityDeps,
  { run, events }: CloseRunInput,
): Promise<boolean> {
  const cancels = events.some(
    (event) => event.type === 'run_result' && event.result.status === 'cancelled',
  );
  return cancels || (await store.getRun(run.tenant, run.runId))?.status === 'cancelled';
}

async function closeWithout(
  deps: InTransaction,
  scope: Scope,
  input: CloseRunInput,
): Promise<CloseRunOutput> {
  const { store } = deps;
  const { tenant, runId } = input.run;
  const eventsUpTo = await appendEvents(store, scope, input);
  await store.closeStream({ tenant, runId, at: now(deps) });
  await store.dropNeeds({ tenant, runId });
  return { head: input.head, eventsUpTo, transcript: 'incomplete' };
}

async function close(
  deps: InTransaction,
  scope: Scope,
  input: CloseRunInput,
): Promise<CloseRunOutput> {
  const { store } = deps;
  const { run, append, session } = input;
  const eventsUpTo = await appendEvents(store, scope, input);
  await store.closeStream({ tenant: run.tenant, runId: run.runId, at: now(deps) });
  await store.dropNeeds({ tenant: run.tenant, runId: run.runId });
  const ended = { eventsUpTo, ...((await sealed(store, input)) && { sealed: true as const }) };
  // A run that was never opened has no conversation to append to.
  if (input.head === null) return { head: null, ...ended };
  const { tenant, runId } = run;
  const head = await appendItems(store, { tenant, head: input.head }, append);
  await store.noteHead({ tenant, runId, head });
  if (session === undefined) return { head, ...ended };
  const saved = await save(store, { ...session, tenant, runId, head, at: now(deps) });
  return { head, ...(saved !== undefined && { session: saved }), ...ended };
}

/** Of a sub-agent: it has its result, and nothing that it still does counts. Its parent may hear of it by Temporal alone. */
async function sealed(store: StoreCalls, { run }: CloseRunInput): Promise<boolean> {
  const { tenant, runId } = run;
  // Below a cycle the ids of its evidence are told with its result (activities/agents/evidence-told.ts).
  if (!isChildId(runId) || placeBelowCycle(runId) !== undefined) return false;
  if ((await store.getRun(tenant, runId))?.result === undefined) return false;
  const row = await store.childRow(tenant, runId);
  return row?.place !== undefined && store.sealChild(tenant, runId);
}

type Ended = SessionToSave & Pick<SessionSave, 'tenant' | 'runId' | 'head' | 'at'>;

async function save(store: StoreCalls, ended: Ended): Promise<SavedSession | undefined> {
  const { id, caller = '', cwd = '', carry, ...rest } = ended;
  const stored = { ...rest, caller, cwd, carry: await smallCarry(store, ended.tenant, carry) };
  const revision = await store.saveSession({ ...stored, sessionId: id });
  if (revision !== undefined) return { id, revision };
  const forkId = id === ended.runId ? `${id}:again` : ended.runId;
  const fork = { ...stored, sessionId: forkId, base: 0, forkedFrom: id };
  const forked = await store.saveSession(fork);
  return forked === undefined ? undefined : { id: forkId, revision: forked };
}

/** Values that are longer than a reference to them become one: the next run carries all of them. */
const INLINE_CHARS_MAX = 64;

async function smallCarry(
  store: StoreCalls,
  tenant: string,
  carry: SessionCarry,
): Promise<SessionCarry> {
  const state: [string, StateValue][] = [];
  for (const [path, value] of Object.entries(carry.state)) {
    if (isBlobRef(value) || value.text.length <= INLINE_CHARS_MAX) state.push([path, value]);
    else {
      const { $blob, bytes } = await store.putBlob(tenant, value.text);
      state.push([path, { $blob, bytes, ...(value.json && { json: true }) }]);
    }
  }
  return { ...carry, state: Object.fromEntries(state) };
}
