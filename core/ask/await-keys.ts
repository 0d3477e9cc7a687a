/**
 * Decisions signed with a key that the run has not been told of. Only the store knows the key: they wait while the keys
 * are fetched; before rules with `keysFetched` those that came by signal wait for the next segment, whose `open_run`
 * brings the keys.
 * Invariants: nothing of them is looked at before they are proven; each waits once; a few at a time, of a few bytes;
 * keys are fetched once for each id, and for KEYS_ASKED_MAX ids, until KEYS_AGAIN_MS have passed without: whoever sends
 * ids of no key at all keeps a new key of the desk from being found for no longer than that.
 */
import { follows } from '../step/changes.js';
import { flying, start, STORE_LIMITS } from '../step/inflight.js';
import { storeWork } from '../step/clock.js';
import { withVerdict } from '../step/open-work.js';
import { fitsBytes } from '../json/json.js';
import { refOf, type ActivityEffect } from '../state/effect.js';
import { isOpen, type OpenRun, type Run, type Step } from '../state/run.js';
import type { Decision, KeyWait, UnprovenDecision } from '../state/ask.js';
import { tellRefusal, type Refusal } from './told.js';

const WAITING_MAX = 4;
const FETCHED_FOR_MAX = 8;
/** Of all that wait together, as JSON: they may be carried into the next segment. */
const WAITING_BYTES_MAX = 65_536;
const KEYS_ASKED_MAX = 8;
const KEYS_AGAIN_MS = 60_000;

const NOBODY: KeyWait = { asked: [], waiting: [] };

export type Waiting = { readonly run: Run } | { readonly objection: Refusal };

/** The run with this decision waiting, or why it cannot; undefined: it is refused for its key. */
export function awaitingKeys(run: Run, unproven: UnprovenDecision): Waiting | undefined {
  if (!isOpen(run)) return undefined;
  if (!follows(run, 'keysFetched')) return awaitingSegment(run, unproven);
  const { decision, ticket } = unproven;
  const { kid = '' } = decision;
  const wait = lately(run);
  const { asked, waiting } = wait;
  // In a full segment nothing is fetched, and nobody waits over its end.
  if (run.segment.full && ticket !== undefined) return undefined;
  const isFetched = asked.includes(kid) && !flying(run, ['fetch_keys']);
  const missed = new Set([...asked, ...waiting.map((one) => one.decision.kid), kid]);
  if (isFetched || missed.size > KEYS_ASKED_MAX) return undefined;
  if (waiting.some((one) => isSame(one.decision, decision))) return { run };
  const more = [...waiting, unproven];
  return more.length > FETCHED_FOR_MAX || !fitsBytes(more, WAITING_BYTES_MAX)
    ? { objection: BUSY }
    : { run: { ...run, keyWait: { ...wait, waiting: more } } };
}

/** Without the ids that may be asked for again. */
function lately(run: OpenRun): KeyWait {
  const { keyWait = NOBODY } = run;
  const { askedAt = run.now, waiting } = keyWait;
  const isOver = run.now - askedAt >= KEYS_AGAIN_MS && !flying(run, ['fetch_keys']);
  return isOver ? { asked: [], waiting } : keyWait;
}

const BUSY = {
  reason: 'busy',
  message: 'too many decisions wait for the keys of the desk; decide again in a moment',
} as const;

function awaitingSegment(
  run: OpenRun,
  { decision, ticket }: UnprovenDecision,
): Waiting | undefined {
  if (!follows(run, 'keysAwaited') || ticket !== undefined) return undefined;
  const { unjudged = [] } = run;
  if (unjudged.some((one) => isSame(one, decision))) return { run };
  if (unjudged.length >= WAITING_MAX) return undefined;
  const segment = { ...run.segment, full: true };
  return { run: { ...run, unjudged: [...unjudged, decision], segment } };
}

function isSame(one: Decision, decision: Decision): boolean {
  return one.by === decision.by && one.nonce === decision.nonce && one.proof === decision.proof;
}

/** Rule: fetches the keys for the decisions that wait. */
export function fetchKeys(run: OpenRun): Step<OpenRun> | undefined {
  const { waiting } = run.keyWait ?? NOBODY;
  if (waiting.length === 0 || flying(run, ['fetch_keys'])) return undefined;
  const kids = [...new Set(waiting.map(({ decision: { kid = '' } }) => kid))];
  const wait = lately(run);
  const asking = { ...run, keyWait: { ...wait, asked: [...new Set([...wait.asked, ...kids])] } };
  return start(asking, 'fetch_keys', (id, events): ActivityEffect => ({
    kind: 'fetch_keys',
    id,
    input: { v: 1, run: refOf(run), kids, events },
    limits: storeWork(run, STORE_LIMITS),
    summary: 'keys of the desk',
  }));
}

/** Those that cannot wait any longer are refused: all, or those whose sender waits for a verdict. */
export function dropWaiting(
  run: OpenRun,
  refusal: Refusal,
  which: (one: UnprovenDecision) => boolean = () => true,
): OpenRun {
  const { keyWait = NOBODY } = run;
  const { waiting } = keyWait;
  const kept = { ...run, keyWait: { ...keyWait, waiting: waiting.filter((one) => !which(one)) } };
  return waiting.filter(which).reduce<OpenRun>((next, { decision, ticket }) => {
    const told = tellRefusal(next, decision, refusal);
    return withVerdict(told, ticket, { accepted: false, ...refusal });
  }, kept);
}
