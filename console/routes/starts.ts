/**
 * Starting runs and goals of the configuration.
 * Invariants: whoever starts is the one who asked, and decides nothing in it; a start costs no more than the agent's or
 * goal's own limit and `console.starts` allow; what is started is in the audit trail before; the same key again is the
 * same run.
 */
import { z } from 'zod';
import { normalGoal } from '../../authoring/index.js';
import { digestOf, type Json } from '../../core/json/json.js';
import type { Limit } from '../../core/state/budget-fields.js';
import type { Desk, StartableAgent, StartableGoal } from '../desk.js';
import { endpoint, type Answer, type Endpoint, type EndpointRequest } from '../http/endpoint.js';
import { once } from '../http/idempotency.js';
import { ownName } from '../http/own-name.js';
import { Problem, reasonOf } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { note } from '../trail.js';

/** Shorter than the console waits for a request. */
const OPEN_LIMIT_MS = 20_000;
const TASK_CHARS_MAX = 32_000;
const ID_CHARS = 26;

const maxCostMicroUsd = z
  .number()
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .optional()
  .describe('only lowers what the configuration allows');
const name = z.string().min(1).max(200);
const runStarted = z.object({ runId: z.string(), agent: z.string(), state: z.literal('open') });
const goalStarted = z.object({ goalId: z.string(), goal: z.string(), state: z.literal('open') });
const startable = z.object({
  agents: z.array(z.object({ name: z.string() })),
  goals: z.array(z.object({ name: z.string(), objective: z.string(), agent: z.string() })),
});

const listStartable = endpoint({
  method: 'get',
  path: '/v1/starts',
  name: 'listStartable',
  summary: 'Agents and goals that may be started here.',
  access: 'start',
  answers: { 200: { description: 'Their names.', schema: startable } },
  async handle({ desk }) {
    const { agents, goals } = startableAt(desk);
    return {
      status: 200,
      body: {
        agents: agents.map((one) => ({ name: one.name })),
        goals: goals.map(({ name: named, definition: { objective, agent } }) => ({
          name: named,
          objective,
          agent,
        })),
      },
    };
  },
});

const startRun = endpoint({
  method: 'post',
  path: '/v1/runs',
  name: 'startRun',
  summary: 'Starts a run of an agent; whoever starts it decides nothing in it.',
  access: 'start',
  body: z.strictObject({ agent: name, task: shapes.words(TASK_CHARS_MAX), maxCostMicroUsd }),
  idempotent: true,
  answers: { 200: { description: 'The run is open.', schema: runStarted } },
  async handle(asked) {
    const { desk, person, body } = asked;
    const { agent, task, maxCostMicroUsd: wanted } = body;
    const found = named(startableAt(desk).agents, agent, 'agent');
    const maxCost = lowest(desk, found.maxCostMicroUsd, wanted);
    return once(asked, { start: agent, body: body as Json }, ({ key }) => {
      const runId = idFor('run', ownName(person, key));
      const deed = {
        kind: 'run_started',
        facts: { agent, maxCost, task: digestOf(task) },
      } as const;
      return begin(asked, { ...deed, id: runId }, async () => {
        await desk.client.forTenant(person.tenant).start({
          agent,
          runId,
          task: { goal: task, caller: person.id },
          budget: { maxCostMicroUsd: maxCost },
          openLimitMs: OPEN_LIMIT_MS,
        });
        return { runId, agent, state: 'open' };
      });
    });
  },
});

const startGoal = endpoint({
  method: 'post',
  path: '/v1/goals',
  name: 'startGoal',
  summary: 'Starts a goal of the configuration; whoever starts it decides nothing in it.',
  access: 'start',
  body: z.strictObject({ goal: name, maxCostMicroUsd }),
  idempotent: true,
  answers: { 200: { description: 'The goal is open.', schema: goalStarted } },
  async handle(asked) {
    const { desk, person, body } = asked;
    const { goal, maxCostMicroUsd: wanted } = body;
    const { definition } = named(startableAt(desk).goals, goal, 'goal');
    const { budget } = definition;
    const maxCost = lowest(desk, budget.maxCostMicroUsd, wanted);
    const lowered = maxCost === 'unlimited' ? {} : { maxCostMicroUsd: maxCost };
    const own = normalGoal({ ...definition, budget: { ...budget, ...lowered } }, `Goal ${goal}`);
    return once(asked, { start: goal, body: body as Json }, ({ key }) => {
      const goalId = idFor('goal', ownName(person, key));
      const deed = { kind: 'goal_started', facts: { goal, maxCost } } as const;
      return begin(asked, { ...deed, id: goalId }, async () => {
        await desk.client.forTenant(person.tenant).startGoal({
          goalId,
          definition: own,
          caller: person.id,
          openLimitMs: OPEN_LIMIT_MS,
        });
        return { goalId, goal, state: 'open' };
      });
    });
  },
});

interface Beginning {
  readonly kind: 'run_started' | 'goal_started';
  readonly id: string;
  readonly facts: { readonly [name: string]: Json };
}

async function begin(
  { desk, person }: Pick<EndpointRequest<object, object, unknown>, 'desk' | 'person'>,
  { kind, id: runId, facts }: Beginning,
  work: () => Promise<object>,
): Promise<Answer> {
  await note(desk, person, { kind, runId, facts });
  try {
    return { status: 200, body: await work() };
  } catch (error) {
    const refused = { decision: 'start', reason: reasonOf(error) };
    await note(desk, person, { kind: 'decision_refused', runId, facts: refused });
    throw error;
  }
}

/** Of the configuration, what `console.starts` leaves. */
function startableAt({ startable: known, settings: { starts } }: Desk): {
  readonly agents: readonly StartableAgent[];
  readonly goals: readonly StartableGoal[];
} {
  const { agents = [], goals = [] } = known ?? {};
  return {
    agents: agents.filter((one) => starts.agents?.includes(one.name) ?? true),
    goals: goals.filter((one) => starts.goals?.includes(one.name) ?? true),
  };
}

function named<T extends { readonly name: string }>(
  all: readonly T[],
  wanted: string,
  what: 'agent' | 'goal',
): T {
  const found = all.find((one) => one.name === wanted);
  if (found !== undefined) return found;
  throw new Problem(404, {
    code: 'not_startable',
    detail: `No ${what} of that name may be started here.`,
    hint: 'GET /v1/starts lists those that may.',
  });
}

function lowest({ settings }: Desk, own: Limit, wanted: number | undefined): Limit {
  const limits = [own, wanted, settings.starts.maxCostUsd].filter((one) => typeof one === 'number');
  return limits.length === 0 ? 'unlimited' : Math.min(...limits);
}

/** The same for the same person and key, and nobody else's: it is never chosen by whoever starts. */
function idFor(kind: 'run' | 'goal', own: string): string {
  return `${kind}_${own.slice(0, ID_CHARS)}`;
}

export const startEndpoints: readonly Endpoint[] = [listStartable, startRun, startGoal];
