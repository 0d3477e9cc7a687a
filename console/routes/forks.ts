/**
 * Forks of recorded runs: first played without effects, then as runs of their own.
 * Invariants: whoever forks is the one who asked, and decides nothing in the fork; a fork has the policy of the run, and costs no more
 * than the run was allowed and `console.starts` says; what is forked is in the audit trail before.
 */
import { z } from 'zod';
import { digestOf, type Json } from '../../core/json/json.js';
import type { Forks, ForkWanted } from '../desk.js';
import { endpoint, type Answer, type Endpoint, type EndpointRequest } from '../http/endpoint.js';
import { dryFork, forkBody, forkStarted, type ForkBody } from '../http/fork-shapes.js';
import { once } from '../http/idempotency.js';
import { ownName } from '../http/own-name.js';
import { Problem, reasonOf } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { checkAccess } from '../identity/rights.js';
import { note } from '../trail.js';
import { ownRun } from './runs.js';

const ID_CHARS = 26;

const params = z.strictObject({ runId: shapes.id });
type ForkRequest = EndpointRequest<z.output<typeof params>, object, ForkBody>;

const playFork = endpoint({
  method: 'post',
  path: '/v1/runs/{runId}/forks/dry',
  name: 'playFork',
  summary:
    'Plays a fork of the run from the state after a step without effects: the model is asked in earnest, reads answer from the record, effects are listed.',
  access: 'start',
  params,
  body: forkBody,
  answers: { 200: { description: 'How it went, and what would be executed.', schema: dryFork } },
  async handle(asked) {
    const { forks, wanted } = await wantedOf(asked);
    return noted(asked, { mode: 'dry' }, async () => forks.dry(wanted));
  },
});

const startFork = endpoint({
  method: 'post',
  path: '/v1/runs/{runId}/forks',
  name: 'startFork',
  summary:
    'Starts a fork of the run from the state after a step, whose effects happen: what the run or another fork of it did asks a person first.',
  access: 'start',
  params,
  body: forkBody,
  idempotent: true,
  answers: { 200: { description: 'The fork is open.', schema: forkStarted } },
  async handle(asked) {
    const { desk, person, body } = asked;
    const { runId } = asked.params;
    const { forks, wanted } = await wantedOf(asked);
    return once(asked, { fork: runId, body: body as Json }, ({ key }) => {
      const id = `run_${ownName(person, key).slice(0, ID_CHARS)}`;
      return noted(asked, { mode: 'live', fork: id }, async () => {
        await forks.live({ ...wanted, forkId: id, caller: person.id });
        desk.say(`${id} is a fork of a run.`);
        return { runId: id, forked: { runId, step: body.step }, state: 'open' };
      });
    });
  },
});

/** Errors: a Problem. */
async function wantedOf({
  desk,
  person,
  params: { runId },
  body,
}: ForkRequest): Promise<{ readonly forks: Forks; readonly wanted: ForkWanted }> {
  checkAccess(desk, person, 'read');
  const { agent, kind } = await ownRun(desk, person, runId);
  if (kind === 'goal') {
    const detail = "The id is a goal's, and forks are made of runs.";
    throw new Problem(409, {
      code: 'not_applicable',
      detail,
      hint: 'Fork the run of one of its cycles.',
    });
  }
  const { forks } = desk;
  const { agents, maxCostUsd } = desk.settings.starts;
  if (forks === undefined || agents?.includes(agent) === false) {
    throw new Problem(409, {
      code: 'not_startable',
      detail: 'Runs of this agent are not started over this desk, and neither are their forks.',
      hint: 'Use `holdfast fork` where the store is.',
    });
  }
  const { maxCostMicroUsd: own, ...changes } = body;
  const limits = [own, maxCostUsd].filter((one) => one !== undefined);
  const { tenant } = person;
  return {
    forks,
    wanted: {
      ...changes,
      tenant,
      runId,
      ...(limits.length > 0 && { ownCostMicroUsd: Math.min(...limits) }),
    },
  };
}

async function noted(
  { desk, person, params: { runId }, body }: ForkRequest,
  facts: { readonly mode: 'dry' | 'live'; readonly fork?: string },
  work: () => Promise<unknown>,
): Promise<Answer> {
  const { step } = body;
  const changes = digestOf(body as Json);
  await note(desk, person, { kind: 'run_forked', runId, facts: { ...facts, step, changes } });
  try {
    return { status: 200, body: await work() };
  } catch (error) {
    const refused = { decision: 'fork', reason: reasonOf(error) };
    await note(desk, person, { kind: 'decision_refused', runId, facts: refused });
    throw error;
  }
}

export const forkEndpoints: readonly Endpoint[] = [playFork, startFork];
