/**
 * open_goal: the first activity of each segment of a goal. Fixes what the goal is.
 * Invariants: the same start and configuration give the same terms and memory; what cannot be opened fails typed and for
 * good.
 */
import { wrongField } from '../../authoring/goal/field.js';
import { normalGoal, type NormalGoal } from '../../authoring/goal/normal-goal.js';
import { canonicalJson, PAYLOAD_BYTES_MAX, type Json } from '../../core/json/json.js';
import type { StoredDefinition } from '../../core/state/goal/definition.js';
import type { OpenGoalInput, OpenGoalOutput } from '../../core/state/goal/payloads.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import { heldByState } from '../../pure/goal/conditions.js';
import { EMPTY_MEMORY, factsOf } from '../../pure/goal/memory.js';
import { now, type ActivityDeps } from '../deps.js';
import { refusalFor } from '../lacking-code.js';
import { appendEvents } from '../run/append-events.js';
import { archiveSegment } from '../run/archive-history.js';
import type { Scope } from '../scope.js';
import { checkToolsOf } from '../connectors/check-tools.js';
import { checkQueues, frozenChecks } from './frozen-checks.js';
import { goalTerms } from './goal-terms.js';
import { takenOver } from './start-again.js';
import { writeMemory } from './stored-memory.js';

/** Its cycles have longer ids, and those are ids of runs as well. */
const GOAL_ID = /^[A-Za-z0-9._:-]{1,96}$/;

export async function openGoal(
  deps: ActivityDeps,
  scope: Scope,
  input: OpenGoalInput,
): Promise<OpenGoalOutput> {
  const { store, rules = RULES_VERSION } = deps;
  const { run, start } = input;
  const eventsUpTo = await appendEvents(store, scope, input);
  const deskKeys = await store.deskKeys(run.tenant);
  const known = {
    rules,
    ...(deskKeys.length > 0 && { deskKeys }),
    ...(run.store === undefined && { store: await store.identity(now(deps)) }),
    eventsUpTo,
  };
  if (start === undefined) {
    await archiveSegment(deps, scope, input);
    return known;
  }
  if (!GOAL_ID.test(run.runId))
    throw wrongField('The goal', 'id', 'it must be 1 to 96 of the characters A-Z a-z 0-9 . _ : -');
  const goal = normalGoal(start.goal);
  awaitAgents(deps, scope, goal);
  const agent = deps.config.agents.get(goal.agent);
  const served = agent === undefined ? [] : await checkToolsOf(deps, scope, { run, goal, agent });
  const validation = frozenChecks(deps.config, goal, served);
  const stored: StoredDefinition = { ...goal, validation };
  const text = canonicalJson(stored as unknown as Json);
  const definition = (await store.putBlob(run.tenant, text)).$blob;
  const { sandboxQueue } = deps.serving ?? {};
  const queues = checkQueues(deps.config, goal, {
    served,
    ...(sandboxQueue !== undefined && { sandboxQueue }),
  });
  const terms = goalTerms(deps.config, goal, { definition, queues });
  const { memory, bests } =
    start.from === undefined
      ? { memory: EMPTY_MEMORY, bests: {} }
      : await takenOver(store, input, { from: start.from, goal });
  const output: OpenGoalOutput = {
    ...known,
    terms,
    memory: await writeMemory(store, input, memory),
    plan: factsOf(memory.plan),
    stateHeld: heldByState(goal.done, memory),
    bests,
  };
  const bytes = Buffer.byteLength(JSON.stringify(output));
  if (bytes > PAYLOAD_BYTES_MAX)
    throw wrongField('The goal', 'the definition', `it takes ${bytes} bytes when it is fixed`);
  return output;
}

/** Another worker may have them; nobody has frozen yet how long they are waited for. */
function awaitAgents(deps: ActivityDeps, scope: Scope, goal: NormalGoal): void {
  const { agents } = deps.config;
  const names = [goal.agent, ...goal.handoffTo];
  const missing = names.findIndex((name) => !agents.has(name));
  const name = names[missing];
  if (name === undefined) return;
  const unservedMs = goal.unavailableMs;
  const refusal = refusalFor(deps, scope, { part: 'agent', name, unservedMs });
  if (refusal !== undefined) throw refusal;
  const field = missing === 0 ? 'agent' : `handoffTo.${missing - 1}`;
  const served = [...agents.keys()].slice(0, 20).join(', ');
  throw wrongField('The goal', field, `no worker has served ${name}; this one has ${served}`);
}
