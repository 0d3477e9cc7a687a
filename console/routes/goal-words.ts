/**
 * What people say to goals.
 * Invariants: what is said is in the audit trail before it is sent, and that it does not count, after it; sent again
 * under the same key it is the same message, which counts once; while the store is away the rows are owed.
 */
import { z } from 'zod';
import { STORE_AWAY, unlessStoreAway, type GoalHandle, type Told } from '../../client/index.js';
import { RECEIVED } from '../../core/goal/verdicts.js';
import { digestOf, type Json } from '../../core/json/json.js';
import type { GoalMessageType } from '../../core/state/goal/message.js';
import type { Access } from '../identity/access.js';
import { endpoint, type Answer, type Endpoint, type EndpointRequest } from '../http/endpoint.js';
import * as goals from '../http/goal-shapes.js';
import { once, requestKey } from '../http/idempotency.js';
import { ownName } from '../http/own-name.js';
import { reasonOf } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { noteOrOwe } from '../trail.js';
import { asMissing } from './away.js';
import { ownGoal } from './goals.js';

const params = z.strictObject({ goalId: shapes.id });
const answers = {
  200: { description: 'The goal has it.', schema: goals.told },
  202: { description: 'Sent; nobody knows yet whether it counts.', schema: goals.told },
};

type Speaker = { readonly by: string; readonly roles: readonly string[]; readonly id: string };

interface Saying<B extends z.ZodType> {
  readonly type: GoalMessageType;
  /** Last part of the path. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  readonly body: B;
  readonly say: (goal: GoalHandle, said: z.output<B>, who: Speaker) => Promise<Told>;
}

function saying<B extends z.ZodType>(declared: Saying<B>): Endpoint {
  const { type, path, summary, access, body, say } = declared;
  return endpoint({
    method: 'post',
    path: `/v1/goals/{goalId}/${path}`,
    name: `${type}Goal`,
    summary,
    access,
    params,
    body,
    idempotent: true,
    answers,
    async handle(asked) {
      const said = asked.body;
      const send = (goal: GoalHandle, who: Speaker): Promise<Told> => say(goal, said, who);
      return tell(asked, { type, said: said as Json, send });
    },
  });
}

type GoalWordRequest = EndpointRequest<z.output<typeof params>, object, unknown>;

interface Word {
  readonly type: GoalMessageType;
  readonly said: Json;
  readonly send: (goal: GoalHandle, who: Speaker) => Promise<Told>;
}

async function tell(asked: GoalWordRequest, word: Word): Promise<Answer> {
  const { desk, person, params: where, header } = asked;
  const { goalId } = where;
  const row = await unlessStoreAway(desk.store, () => ownGoal(desk, person, goalId));
  if (row === STORE_AWAY) {
    // Whose it is says Temporal then; a goal that is not theirs is not there.
    await desk.client.forTenant(person.tenant).ownRun(goalId).catch(asMissing);
    return tellNow(asked, word, { key: requestKey(header), isAway: true });
  }
  const what = { goalId, type: word.type, body: word.said };
  return once(asked, what, ({ key }) => tellNow(asked, word, { key, isAway: false }));
}

async function tellNow(
  { desk, person, params: { goalId } }: GoalWordRequest,
  { type, said, send }: Word,
  { key, isAway }: { readonly key: string; readonly isAway: boolean },
): Promise<Answer> {
  const id = ownName(person, key);
  const facts = { type, messageId: id, ...saidFacts(type, said) };
  await noteOrOwe(desk, person, { kind: 'goal_told', runId: goalId, facts });
  try {
    const own = desk.client.forTenant(person.tenant);
    // That the store has a goal of this tenant under the id is not enough: the id may be another tenant's now.
    await own.ownRun(goalId);
    const told = await send(own.goal(goalId), { by: person.id, roles: person.roles, id });
    return answerOf(told, { goalId, isAway });
  } catch (error) {
    const refused = { decision: type, messageId: id, reason: reasonOf(error) };
    await noteOrOwe(desk, person, { kind: 'decision_refused', runId: goalId, facts: refused });
    throw error;
  }
}

/** Figures are in the trail as they were said; of words and plans their digest, which the signature is over too. */
function saidFacts(type: GoalMessageType, said: Json): { readonly [name: string]: Json } {
  if (type === 'setBudget' || type === 'setPace') return { said };
  return { said: digestOf(said) };
}

function answerOf(
  told: Told,
  { goalId, isAway }: { readonly goalId: string; readonly isAway: boolean },
): Answer {
  const body = { goalId, messageId: told.id };
  const away = isAway && { storeAway: true };
  if (told.delivered === 'signal')
    return { status: 202, body: { ...body, state: 'sent', ...away } };
  const more = told.message !== undefined && { message: told.message };
  // The goal has it and has not looked at it: it may still be refused.
  if (told.message === RECEIVED.message)
    return { status: 202, body: { ...body, state: 'sent', ...more, ...away } };
  return { status: 200, body: { ...body, state: 'taken', ...more, ...away } };
}

/** Fields that are not given are none. */
function given<T extends object>(fields: T): { [name in keyof T]: Exclude<T[name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as never;
}

export const goalWordEndpoints: readonly Endpoint[] = [
  saying({
    type: 'steer',
    path: 'steer',
    summary: 'A word to the goal: stands in the brief of its next cycle.',
    access: 'steer',
    body: goals.steerBody,
    say: (goal, { text, wake }, who) => goal.steer(text, { ...who, ...given({ wake }) }),
  }),
  saying({
    type: 'pause',
    path: 'pause',
    summary: 'The open cycle ends; no other one begins until the goal is resumed.',
    access: 'steer',
    body: goals.nothing,
    say: (goal, _, who) => goal.pause(who),
  }),
  saying({
    type: 'resume',
    path: 'resume',
    summary: 'Ends a pause.',
    access: 'steer',
    body: goals.nothing,
    say: (goal, _, who) => goal.resume(who),
  }),
  saying({
    type: 'wake',
    path: 'wake',
    summary: 'Ends the sleep of the goal, or the next one.',
    access: 'steer',
    body: goals.nothing,
    say: (goal, _, who) => goal.wake(who),
  }),
  saying({
    type: 'review',
    path: 'review',
    summary: 'Asks for a review; with `objectiveValid` a word on the objective, which stands.',
    access: 'steer',
    body: goals.reviewBody,
    say: (goal, said, who) => goal.review({ ...who, ...given(said) }),
  }),
  saying({
    type: 'setBudget',
    path: 'budget',
    summary: 'New limits, each in all; what is left out stays.',
    access: 'steer',
    body: goals.budgetBody,
    say: (goal, { budget }, who) => goal.setBudget(given(budget), who),
  }),
  saying({
    type: 'setPlan',
    path: 'plan',
    summary: 'A new plan; with `revision` refused when the plan has changed since.',
    access: 'steer',
    body: goals.planBody,
    say: (goal, { steps, revision }, who) =>
      goal.setPlan(steps.map(given), { ...who, ...given({ revision }) }),
  }),
  saying({
    type: 'setPace',
    path: 'pace',
    summary: 'When cycles begin from now on.',
    access: 'steer',
    body: goals.paceBody,
    say: (goal, { pace }, who) => goal.setPace(pace, who),
  }),
  saying({
    type: 'stop',
    path: 'stop',
    summary: 'Ends the goal in order: an open cycle is waited for, unless the cycle waits itself.',
    access: 'interrupt',
    body: goals.nothing,
    say: (goal, _, who) => goal.stop(who),
  }),
  saying({
    type: 'cancel',
    path: 'cancel',
    summary: 'Ends the goal at once; an open cycle is cancelled.',
    access: 'interrupt',
    body: goals.nothing,
    say: (goal, _, who) => goal.cancel(who),
  }),
];
