/**
 * close_cycle: reads the outcome of a cycle, and applies what the cycle proposed.
 * Invariants: proposals are applied in their order, once, whatever the cycle's end; the child's row is sealed with its
 * outcome; asked again it gives the same.
 */
import { digestOf, type Json } from '../../core/json/json.js';
import type { StoredDefinition } from '../../core/state/goal/definition.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type {
  CloseCycleInput,
  CloseCycleOutput,
  ProgressItem,
} from '../../core/state/goal/payloads.js';
import type { ChildStart } from '../../pure/goal/child-start.js';
import { heldByState } from '../../pure/goal/conditions.js';
import { callEvidence, countsAsEvidence } from '../../pure/goal/evidence.js';
import { withEvidence } from '../../pure/goal/log.js';
import { factsOf } from '../../pure/goal/memory.js';
import {
  applyProposals,
  evidenceOf,
  type Applied,
  type Closing,
} from '../../pure/goal/proposals.js';
import type { StoreCalls } from '../../store/store.js';
import { now, type ActivityDeps, type InTransaction } from '../deps.js';
import { appendEvents } from '../run/append-events.js';
import type { Scope } from '../scope.js';
import { childOutcome, type ChildOutcome } from './child-outcome.js';
import { knownEvidence } from './known-evidence.js';
import { eventsOf } from './run-events.js';
import { readMemory, writeMemory } from './stored-memory.js';
import { storedJson } from './stored-json.js';

export async function closeCycle(
  deps: ActivityDeps,
  scope: Scope,
  input: CloseCycleInput,
): Promise<CloseCycleOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const found = await childOutcome(deps.store, scope, input);
  const { outcome, waiting } = found;
  if (outcome === undefined) return { ...(waiting && { waiting }), eventsUpTo };
  return deps.store.together(async (store) => {
    const { tenant } = input.run;
    await store.sealChild(tenant, input.child);
    const doubt = await store.countDoubtful(tenant, input.child);
    const left = await leftBy({ ...deps, store }, input, found);
    return { ...left, outcome: { ...outcome, doubt }, eventsUpTo };
  });
}

type Left = Omit<CloseCycleOutput, 'eventsUpTo' | 'outcome'>;

/** What the cycle leaves behind, in the memory and as proposals. */
async function leftBy(
  deps: InTransaction,
  input: CloseCycleInput,
  { at = now(deps) }: ChildOutcome,
): Promise<Left> {
  const { store } = deps;
  const { run, n, child } = input;
  const definition = await storedJson<StoredDefinition>(store, input, input.definition);
  const before = await readMemory(store, input, input.memory);
  const effects = await store.noteEffects({ tenant: run.tenant, goal: run.runId, cycle: n, child });
  const evidence = withEvidence(before, await evidenceFrom(store, input, effects));
  const memory = { ...before, evidence };
  const proposals = (await store.listProposals(run.tenant, run.runId, n)).map(
    ({ proposal }) => proposal,
  );
  const ids = proposals.flatMap(evidenceOf);
  const known = await knownEvidence(deps, input, { memory, ids });
  const { agent, handoffTo, maxAskedPauseMs, holdPlan } = input;
  const closing: Closing = {
    cycle: n,
    at,
    agent,
    base: await planRead(store, input, before),
    exists: (id) => known.has(id),
    handoffTo,
    maxAskedPauseMs,
    scope: 'all',
  };
  const whole = applyProposals(memory, proposals, closing);
  const { added, dropped, renamed } = whole.change;
  const isHeld = holdPlan && added + dropped + renamed > 0;
  const applied = isHeld
    ? applyProposals(memory, proposals, { ...closing, scope: 'marks' })
    : whole;
  return {
    ...(await told(store, input, { applied, before })),
    ...(isHeld && {
      held: {
        memory: await writeMemory(store, input, whole.memory),
        facts: factsOf(whole.memory.plan),
      },
    }),
    stateHeld: heldByState(definition.done, applied.memory),
    progress: progressOf(applied, effects),
  };
}

interface Folded {
  readonly applied: Applied;
  readonly before: GoalMemory;
}

async function told(
  store: StoreCalls,
  input: CloseCycleInput,
  { applied, before }: Folded,
): Promise<Left> {
  const { memory, change, proposedDone, handoff, pause, block } = applied;
  const { added, dropped, renamed, done } = change;
  const isChanged = memory.plan.revision !== before.plan.revision;
  const values = Object.entries(memory.state).map(([path, { value }]) => [path, value] as const);
  // Checks are looked at by what they gave (core/goal/conditions.ts).
  const evidence = memory.evidence.filter((id) => !id.startsWith('check/'));
  const shown: Json = { evidence, state: Object.fromEntries(values) };
  const warnings = warningsOf(applied);
  return {
    memory: await writeMemory(store, input, memory),
    plan: factsOf(memory.plan),
    ...(isChanged && { planChange: { by: input.agent, added, dropped, renamed, done } }),
    evidenceDigest: digestOf(shown),
    evidenceCount: memory.evidence.length,
    ...(proposedDone && { proposedDone }),
    ...(handoff !== undefined && { handoff }),
    ...(pause !== undefined && { pause }),
    ...(block !== undefined && { block }),
    ...(warnings.length > 0 && { warnings }),
  };
}

const WARNINGS_MAX = 20;
const ID_CHARS_SHOWN = 100;

function warningsOf({ unknownEvidence, superseded }: Applied): readonly string[] {
  const unknown = unknownEvidence.map(
    (id) => `${JSON.stringify(id.slice(0, ID_CHARS_SHOWN))} is no evidence of this goal`,
  );
  const late = superseded.map((words) => `superseded: ${words}`);
  return [...unknown, ...late].slice(0, WARNINGS_MAX);
}

function progressOf(
  { change, firstPaths }: Applied,
  effects: readonly string[],
): readonly ProgressItem[] {
  const items: ProgressItem[] = [
    ...change.done.map((id) => ({ kind: 'step', id }) as const),
    ...firstPaths.map((id) => ({ kind: 'state', id }) as const),
    ...effects.map((id) => ({ kind: 'effect', id }) as const),
  ];
  return items.slice(0, PROGRESS_MAX);
}

/** Enough to know that there was progress; all of it is in the plan, the state and the ledger. */
const PROGRESS_MAX = 20;

/** The plan that the cycle had read: a person may have changed it since. */
async function planRead(
  store: StoreCalls,
  input: CloseCycleInput,
  { plan }: GoalMemory,
): Promise<GoalMemory['plan']> {
  const row = await store.childRow(input.run.tenant, input.child);
  if (row === undefined) return plan;
  const { memory } = JSON.parse(row.start) as Partial<ChildStart>;
  return memory === undefined ? plan : (await readMemory(store, input, memory)).plan;
}

async function evidenceFrom(
  store: StoreCalls,
  { run, child, n }: CloseCycleInput,
  effects: readonly string[],
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const event of eventsOf(store, run.tenant, child))
    if (countsAsEvidence(event)) ids.push(callEvidence(n, event.callId));
  return [...ids, ...effects.map((key) => `effect/${key}`)];
}
