/**
 * Plays one run: as the customer who speaks when the run waits for them, as the desk that approves
 * what the recording did and nothing else, and as the person who looks into the ledger of the tool
 * service when nobody else can know what became of a call.
 * Invariant: whatever dies meanwhile, each text and each decision counts once; it ends in bounded time.
 */
import type { HoldfastClient, RunHandle } from '../../client/index.js';
import { canonicalJson } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { RunResult } from '../../core/state/result.js';
import type { Store } from '../../store/store.js';
import type { KillSwitch } from './kill-switch.js';
import { persistently } from './persistently.js';
import type { PlayedRun } from './played-run.js';
import { DESK_ROLE } from './agent-config.js';
import { answerFromLedger, type LedgerAnswer } from './ledger-answer.js';
import type { Mode } from './tool-store.js';

export interface Drive {
  readonly agent: string;
  readonly mode: Mode;
  /** Of the tool service. */
  readonly serviceUrl: string;
  readonly client: HoldfastClient;
  readonly store: Store;
  readonly run: PlayedRun;
  readonly runId: string;
  readonly kill: KillSwitch;
  /** Ends the drive early; the run is left as it is. */
  readonly signal: AbortSignal;
}

export interface Driven {
  readonly events: readonly RunEvent[];
  readonly result?: RunResult;
  readonly approvals: number;
  /** What the person answered about calls of unknown outcome, in order. */
  readonly parked: readonly LedgerAnswer[];
  readonly failures: readonly string[];
  readonly acknowledged: Acknowledged;
}

/** What was sent to the run and taken by the server: it must never be lost. */
export interface Acknowledged {
  /** Ids of questions that were approved. */
  readonly approvals: readonly string[];
  /** Texts of the customer after the first. */
  readonly messages: readonly string[];
}

/** All runs are of one tenant. */
export const TENANT = 'default';

const RUN_MS_MAX = 180_000;
const RESULT_MS_MAX = 10_000;
/** A worker that dies with a decision in hand keeps its run waiting no longer. */
export const DECISION_TIMEOUT_MS = 3_000;
const STUCK_RUNS_MAX = 50;
const DECISION_TRIES_MAX = 4;
const DESK = { by: 'proving-desk', roles: [DESK_ROLE] } as const;

/** Starts the run and plays it to its end. */
export async function driveRun(drive: Drive): Promise<Driven> {
  const { agent, client, run, runId } = drive;
  const limit = AbortSignal.timeout(RUN_MS_MAX);
  const signal = AbortSignal.any([drive.signal, limit]);
  const progress: Progress = {
    ...drive,
    events: [],
    answered: new Set(),
    approvals: 0,
    asked: 0,
    spoken: 1,
    acknowledged: { approvals: [], messages: [] },
    parked: [],
    failures: [],
  };
  const goal = run.exchanges[0]?.userText ?? '';
  const handle = await persistently(() =>
    client.start({
      agent,
      task: { goal },
      runId,
      wait: false,
      decisionTimeoutMs: DECISION_TIMEOUT_MS,
    }),
  );
  for await (const event of handle.events({ signal })) {
    progress.events.push(event);
    await follow(progress, handle, event);
  }
  const { events, approvals, parked, failures, acknowledged } = progress;
  if (signal.aborted) {
    failures.push(limit.aborted ? await stuckAt(drive, handle) : 'stopped from outside');
    return { events, approvals, parked, failures, acknowledged };
  }
  const result = await resultOf(handle, failures);
  return {
    events,
    approvals,
    parked,
    failures,
    acknowledged,
    ...(result !== undefined && { result }),
  };
}

interface Progress extends Drive {
  readonly events: RunEvent[];
  /** Asks that were dealt with: an event may be read again, and counts once. */
  readonly answered: Set<string>;
  readonly parked: LedgerAnswer[];
  readonly failures: string[];
  approvals: number;
  /** Questions of any kind so far. */
  asked: number;
  readonly acknowledged: { readonly approvals: string[]; readonly messages: string[] };
  /** The customer's texts that were sent; the first is the run's goal. */
  spoken: number;
}

async function follow(progress: Progress, handle: RunHandle, event: RunEvent): Promise<void> {
  if (event.type !== 'approval_requested' && event.type !== 'input_request') return;
  if (progress.answered.has(event.askId)) return;
  progress.answered.add(event.askId);
  await progress.kill.answering(progress.asked);
  progress.asked += 1;
  if (event.type === 'approval_requested') return decide(progress, handle, event);
  if (event.kind === 'user_message') return speak(progress, handle);
  if (event.kind === 'outcome') return tellOutcome(progress, handle, event);
  progress.failures.push(`a person was asked: ${event.question ?? event.kind}`);
  // Nobody can know it; the run ends and its result says why.
  await handle.answer(event.askId, { kind: 'stop' }, DESK);
}

/** Where the service honours keys it can tell what happened, so nobody needs to be asked. */
async function tellOutcome(progress: Progress, handle: RunHandle, ask: AskView): Promise<void> {
  const { mode, serviceUrl, runId, parked, failures } = progress;
  if (mode === 'keys') failures.push(`a person was asked: ${ask.question ?? ask.kind}`);
  const started = progress.events.findLast(
    (event) => event.type === 'tool_started' && event.callId === ask.callId,
  );
  const key = started?.type === 'tool_started' ? started.key : undefined;
  const told = await answerFromLedger(serviceUrl, { runId, callId: ask.callId ?? '', key });
  parked.push(told);
  await untilCounted(() => handle.answer(ask.askId, told.answer, DESK));
}

async function speak(progress: Progress, handle: RunHandle): Promise<void> {
  const next = progress.run.exchanges[progress.spoken];
  if (next === undefined) return persistently(() => handle.close());
  const id = `${progress.runId}-user-${progress.spoken}`;
  await persistently(() => handle.sendMessage(next.userText, id));
  progress.acknowledged.messages.push(next.userText);
  progress.spoken += 1;
}

async function decide(progress: Progress, handle: RunHandle, ask: AskView): Promise<void> {
  const { kill, failures } = progress;
  if (!(await wasRecorded(progress, ask))) {
    failures.push(`${ask.tool ?? 'a tool'} asked for an approval that the recording does not have`);
    await handle.reject(ask.askId, DESK);
    return;
  }
  const when = kill.reached('approval', progress.approvals);
  progress.approvals += 1;
  if (when === 'before') await kill.fire();
  if (when === 'around') void kill.fire();
  await untilCounted(() => handle.approve(ask.askId, DESK));
  progress.acknowledged.approvals.push(ask.askId);
  if (when === 'after') await kill.fire();
}

/** The very call of the recording: same id, same tool, same arguments. */
async function wasRecorded({ run, store }: Progress, ask: AskView): Promise<boolean> {
  const call = run.calls.get(ask.callId ?? '');
  if (call === undefined || call.name !== ask.tool || ask.args === undefined) return false;
  const args = await store.restoreArguments(TENANT, ask.args);
  return canonicalJson(args) === canonicalJson(call.args);
}

/** A decision that was lost with its worker is sent again; the run counts one of them. */
async function untilCounted(decide: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await decide();
      return;
    } catch (error) {
      if (wasCounted(error)) return;
      const passing = error instanceof HoldfastError && error.code === 'ServerUnavailable';
      if (!passing || attempt >= DECISION_TRIES_MAX) throw error;
    }
  }
}

function wasCounted(error: unknown): boolean {
  if (!(error instanceof HoldfastError) || error.code !== 'DecisionRejected') return false;
  return ['duplicate', 'already_decided'].includes(String(error.details?.['reason']));
}

async function resultOf(handle: RunHandle, failures: string[]): Promise<RunResult | undefined> {
  try {
    return await handle.result({ timeoutMs: RESULT_MS_MAX });
  } catch (error) {
    failures.push(`no result: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Why a run did not end, as far as the server knows. */
async function stuckAt({ client, runId }: Drive, handle: RunHandle): Promise<string> {
  const { status } = await handle.execution();
  const stuck = (await client.stuckRuns({ limit: STUCK_RUNS_MAX })).filter(
    (run) => run.runId === runId,
  );
  const reasons = stuck.map(
    ({ kind, activity, attempt, reason }) => `${activity ?? kind} attempt ${attempt}: ${reason}`,
  );
  await handle.cancel();
  return [`not ended within ${RUN_MS_MAX / 1000} s, status ${status}`, ...reasons].join('; ');
}
