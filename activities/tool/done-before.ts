/**
 * Was the same done before? The guard before a claim: for the same business object, by any run, and with the same arguments
 * by this run before it was reset (G109).
 * Invariant: what whoever approved was shown lets a call pass, and nothing else does.
 */
import type { ExecuteToolInput, ToolOutcome } from '../../core/state/effect.js';
import {
  EARLIER_MAX,
  unseenRepeats,
  type EarlierEffect,
  type Identity,
  type Repeats,
} from '../../core/controls/repeats.js';
import type { StoreCalls } from '../../store/store.js';
import { knownDigestOf } from '../digests.js';

type Repeated = Extract<ToolOutcome, { kind: 'repeats' }>;

export interface BusinessObject {
  readonly identity: Identity;
  /** ms since epoch. */
  readonly since: number;
}

export async function doneFor(
  store: StoreCalls,
  { run, call, grant }: ExecuteToolInput,
  { identity, since }: BusinessObject,
): Promise<Repeated | undefined> {
  const { tenant } = run;
  const { tool, key } = call;
  const limit = EARLIER_MAX + 1;
  const found = await store.earlierEffects({ tenant, tool, identity, key, since, limit });
  return unseen(cardOf(identity, found), grant);
}

/** What a card says in the place of a business object. */
const BEFORE_RESET: Identity = ['these arguments, before the run was reset'];

/** `claimant`: Temporal run id of the execution that claims. Its conversation does not know of these calls. */
export async function doneBeforeReset(
  store: StoreCalls,
  { run, call, grant }: ExecuteToolInput,
  claimant: string,
): Promise<Repeated | undefined> {
  const found = await store.callsBeforeReset({
    tenant: run.tenant,
    runId: run.runId,
    execution: claimant,
    key: call.key,
    tool: call.tool,
    toolVersion: call.toolVersion,
    argsDigest: call.digest,
    limit: EARLIER_MAX + 1,
  });
  return unseen(cardOf(BEFORE_RESET, found), grant);
}

/** The same call of the run that a fork began from, of a run of its tree, or of another fork of one of these. */
const BEFORE_FORK: Identity = [
  'these arguments, by the run that the fork began from or a fork of it',
];

export async function doneInFamily(
  store: StoreCalls,
  { run, call, grant }: ExecuteToolInput,
): Promise<Repeated | undefined> {
  const found = await store.handedOverInFamily({
    tenant: run.tenant,
    runId: run.runId,
    key: call.key,
    tool: call.tool,
    argsDigest: call.digest,
    plainDigest: knownDigestOf(call.args),
    limit: EARLIER_MAX + 1,
  });
  return found.length === 0 ? undefined : unseen(cardOf(BEFORE_FORK, found), grant);
}

function unseen(card: Repeats, { repeats: seen = [] }: ExecuteToolInput['grant']) {
  const repeats = unseenRepeats(card, seen);
  return repeats === undefined ? undefined : ({ kind: 'repeats', repeats } as const);
}

/** The newest of them, as a card shows them. `found`: one more than fits says that there are more. */
export function cardOf(identity: Identity, found: readonly EarlierEffect[]): Repeats {
  const more = found.length > EARLIER_MAX && { more: true as const };
  return { identity, earlier: found.slice(0, EARLIER_MAX).map(forCard), ...more };
}

const APPROVERS_SHOWN = 3;
const NAME_CHARS = 80;

/** A card travels in the run: whoever wants all of it looks the effect up. */
function forCard(effect: EarlierEffect): EarlierEffect {
  const approvedBy = effect.approvedBy.slice(0, APPROVERS_SHOWN);
  return { ...effect, approvedBy: approvedBy.map((name) => name.slice(0, NAME_CHARS)) };
}
