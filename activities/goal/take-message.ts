/**
 * take_message: what a person said enters the store; a plan of theirs takes the place of the goal's; a goal that is handed
 * over goes to one that is there.
 */
import type { TakeMessageInput, TakeMessageOutput } from '../../core/state/goal/payloads.js';
import { factsOf } from '../../pure/goal/memory.js';
import { stepsDefect } from '../../pure/goal/proposal-defect.js';
import { setPlan } from '../../pure/goal/set-plan.js';
import { withEntry } from '../../pure/goal/log.js';
import type { StoredText } from '../../core/json/json.js';
import type { StoreCalls } from '../../store/store.js';
import type { ActivityDeps } from '../deps.js';
import { appendEvents } from '../run/append-events.js';
import { beginning } from '../run/append-items.js';
import type { Scope } from '../scope.js';
import { knownEvidence } from './known-evidence.js';
import { readMemory, writeMemory } from './stored-memory.js';

const PREVIEW_CHARS = 100;

export async function takeMessage(
  deps: ActivityDeps,
  scope: Scope,
  input: TakeMessageInput,
): Promise<TakeMessageOutput> {
  const { store } = deps;
  const { run, message } = input;
  const eventsUpTo = await appendEvents(store, scope, input);
  if (message.type === 'steer')
    return { text: await kept(store, run.tenant, message.text), eventsUpTo };
  if (message.type === 'handoffGoal')
    return { ...(await objectionTo(store, run, message.goalId)), eventsUpTo };
  if (message.type !== 'setPlan') return { eventsUpTo };
  const defect = stepsDefect(message.steps);
  if (defect !== undefined)
    return { refused: { reason: 'malformed', message: defect }, eventsUpTo };
  const memory = await readMemory(store, input, input.memory);
  const cited = message.steps.flatMap(({ evidence = [] }) => evidence);
  const known = await knownEvidence(deps, input, { memory, ids: cited });
  const { steps, revision, by, at } = message;
  const written = setPlan(memory.plan, {
    steps,
    ...(revision !== undefined && { revision }),
    by,
    exists: (id) => known.has(id),
  });
  if (!('plan' in written)) return { refused: written, eventsUpTo };
  const { plan } = written;
  if (plan === memory.plan) return { memory: input.memory, plan: factsOf(plan), eventsUpTo };
  const text = `${by} changed the plan.`;
  const cycle = memory.children.at(-1)?.n ?? 0;
  const next = withEntry({ ...memory, plan }, { at, cycle, kind: 'person', text });
  return { memory: await writeMemory(store, input, next), plan: factsOf(plan), eventsUpTo };
}

/** Never inline: the goal keeps all words that no cycle has read yet. */
async function kept(store: StoreCalls, tenant: string, text: string): Promise<StoredText> {
  const ref = await store.putBlob(tenant, text);
  return { ...ref, preview: beginning(text, PREVIEW_CHARS) };
}

async function objectionTo(
  store: ActivityDeps['store'],
  { tenant, runId }: TakeMessageInput['run'],
  other: string,
): Promise<Pick<TakeMessageOutput, 'refused'>> {
  const row = other === runId ? undefined : await store.getRun(tenant, other);
  if (row?.kind === 'goal' && row.completedAt === undefined) return {};
  const message = `${JSON.stringify(other)} is no other goal that goes on`;
  return { refused: { reason: 'not_applicable', message } };
}
