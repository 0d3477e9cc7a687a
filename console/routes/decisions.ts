/**
 * Deciding and answering.
 * Invariants: what somebody decides is in the audit trail before it is sent, and while the store is away by the run's
 * own event; sent again under the same key it is the same decision; it names the action that the person was shown.
 */
import { z } from 'zod';
import {
  checkFits,
  isAnswerRead,
  STORE_AWAY,
  type AskDecision,
  type Delivery,
} from '../../client/index.js';
import { digestOf, type Json } from '../../core/json/json.js';
import type { GrantRequest } from '../../core/state/grant.js';
import type { AskRow } from '../../store/asks.js';
import { decidedFacts } from '../decided.js';
import { endpoint, type EndpointRequest, type Answer, type Endpoint } from '../http/endpoint.js';
import { once, requestKey, type OpenRequest } from '../http/idempotency.js';
import { ownName } from '../http/own-name.js';
import { decidedIn, Problem, reasonOf } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { note } from '../trail.js';
import { ANSWERABLE, DECIDABLE } from './asks.js';
import { askOfNamedRun, storedAsk, type AwayAsk } from './away.js';
import { isCounted, lostSince } from './lost-since.js';
import { ownHandle } from './runs.js';

const params = z.strictObject({ askId: shapes.id });
const delivered = {
  200: { description: 'The run has it.', schema: shapes.delivery },
  202: { description: 'Sent; no worker has taken it up yet.', schema: shapes.delivery },
};

type AskedToDecide = EndpointRequest<z.output<typeof params>, object, shapes.DecisionBody>;

const decide = endpoint({
  method: 'post',
  path: '/v1/approvals/{askId}/decisions',
  name: 'decide',
  summary: 'Decides on an approval, an unknown outcome or a budget question.',
  access: 'answer',
  params,
  body: shapes.decision,
  idempotent: true,
  answers: delivered,
  async handle(asked) {
    const { desk, person, params: where, body } = asked;
    const { runId } = body;
    const named = { askId: where.askId, kinds: DECIDABLE, runId };
    const ask = await storedAsk(desk, person, named);
    if (ask === STORE_AWAY) return decideAway(asked, await askOfNamedRun(desk, person, named));
    const what = { askId: ask.askId, body: body as unknown as Json };
    return once(asked, what, {
      first: (request) => decideOnce(asked, ask, request),
      recheck: (key) => lostSince(asked, ask, key),
    });
  },
});

/** Without the store no request is kept: the run tells by the nonce that it had this decision before. */
async function decideAway(
  { desk, person, body, header }: AskedToDecide,
  { row: { askId, runId, argsHash }, run }: AwayAsk,
): Promise<Answer> {
  const nonce = ownName(person, requestKey(header));
  const by = { by: person.id, roles: person.roles };
  const delivery = await run.decideOn({
    ...decisionOf(body),
    askId,
    ...by,
    nonce,
    decidedAt: desk.clock(),
    argsHash: body.argsHash,
  });
  // It was sent all the same: the run refuses it, and tells the trail.
  if (argsHash !== body.argsHash) throw changed();
  return answerOf(delivery, { askId, runId });
}

async function decideOnce(
  asked: AskedToDecide,
  ask: AskRow,
  { key, at, refusals }: OpenRequest,
): Promise<Answer> {
  const { desk, person, body } = asked;
  const { askId, runId } = ask;
  const nonce = ownName(person, key);
  const by = { by: person.id, roles: person.roles };
  const wanted = { ...decisionOf(body), askId, ...by, nonce, decidedAt: at };
  const facts = decidedFacts(desk, { ...ask, argsHash: body.argsHash }, wanted);
  await note(desk, person, { kind: 'decided', runId, askId, facts });
  try {
    if (body.argsHash !== ask.argsHash) throw changed();
    const run = await ownHandle(desk, person.tenant, runId);
    // Under a name that it has answered the run says the same for ever, also what held for a moment.
    const updateId = refusals === 0 ? nonce : `${nonce}:again${refusals}`;
    const delivery = await run.decideOn({ ...wanted, recorded: true, updateId });
    return answerOf(delivery, { askId, runId });
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'run_closing' && (await isCounted(asked, ask, key))) {
      return { status: 200, body: { askId, runId, state: 'decided', outcome: ask.outcome } };
    }
    const decided = decidedIn(error);
    const refused = {
      decision: body.decision,
      nonce,
      reason,
      ...(decided !== undefined && { decided }),
    };
    await note(desk, person, { kind: 'decision_refused', runId, askId, facts: refused });
    throw error;
  }
}

type Wanted = Pick<AskDecision, 'decision' | 'reason' | 'args' | 'tool' | 'value' | 'allowing'>;

function decisionOf(body: shapes.DecisionBody): Wanted {
  const { decision, reason } = body;
  const said = { decision, ...(reason !== undefined && { reason }) };
  switch (body.decision) {
    case 'modify':
      return { ...said, args: body.args as Json };
    case 'replace':
      return { ...said, args: body.args as Json, tool: body.tool };
    case 'happened':
      return { ...said, ...(body.value !== undefined && { value: body.value as Json }) };
    case 'approve': {
      const { amount, grant } = body;
      const allowing = {
        ...(amount !== undefined && { amount }),
        // The run parses it; what it cannot use it refuses.
        ...(grant !== undefined && { grant: grant as GrantRequest }),
      };
      return { ...said, allowing };
    }
    default:
      return said;
  }
}

function answerOf(
  delivery: Delivery,
  where: { readonly askId: string; readonly runId: string },
): Answer {
  const { waitsFor } = delivery;
  const waits = waitsFor !== undefined && { waitsFor };
  if (delivery.delivered === 'signal') {
    const away = delivery.storeAway === true && { storeAway: true };
    return { status: 202, body: { ...where, state: 'sent', ...waits, ...away } };
  }
  const outcome = delivery.verdict.accepted ? delivery.verdict.outcome : 'pending';
  const state = outcome === 'pending' ? 'pending' : 'decided';
  return { status: 200, body: { ...where, state, outcome, ...waits } };
}

function changed(): Problem {
  return new Problem(409, {
    code: 'mismatched',
    detail: 'The action is not the one that you were shown. Look at it again.',
  });
}

const answer = endpoint({
  method: 'post',
  path: '/v1/questions/{askId}/answers',
  name: 'answer',
  summary: 'Answers a clarifying question, and says whether the answer counts: the first one does.',
  access: 'answer',
  params,
  body: shapes.answerBody,
  idempotent: true,
  answers: delivered,
  async handle(asked) {
    const { desk, person, params: where, body } = asked;
    const value = body.value as Json;
    const answerer = { by: person.id, roles: person.roles };
    const named = { askId: where.askId, kinds: ANSWERABLE, runId: body.runId };
    const ask = await storedAsk(desk, person, named);
    if (ask === STORE_AWAY) {
      requestKey(asked.header);
      const { row, run } = await askOfNamedRun(desk, person, named);
      const delivery = await run.answer(row.askId, { kind: 'text', value }, answerer);
      return answerOf(delivery, { askId: row.askId, runId: row.runId });
    }
    const { askId } = ask;
    return once(
      asked,
      { askId, body: { value } },
      {
        first: () => answerOnce(asked, ask),
        // Nobody knew then, or the run has read another one all the same.
        recheck: async () => ((await isRead(asked, ask)) === false ? alreadyAnswered() : undefined),
      },
    );
  },
});

type AskedToAnswer = EndpointRequest<object, object, z.output<typeof shapes.answerBody>>;

async function isRead(
  { desk, person, body }: AskedToAnswer,
  { tenant, runId, askId }: AskRow,
): Promise<boolean | undefined> {
  const given = { askId, by: person.id, value: body.value as Json };
  return isAnswerRead(desk.store, { tenant, runId }, given);
}

/** What does not fit its form is not said: the trail has no answer then, but the refusal. */
async function answerOnce(asked: AskedToAnswer, ask: AskRow): Promise<Answer> {
  const { desk, person, body } = asked;
  const { askId, runId, outcome } = ask;
  const value = body.value as Json;
  if (outcome !== 'pending') {
    // Said before, and the word on it was lost.
    if ((await isRead(asked, ask)) !== true) throw alreadyAnswered();
    return { status: 200, body: { askId, runId, state: 'decided', outcome } };
  }
  const refuse = async (error: unknown): Promise<never> => {
    const facts = { decision: 'answer', reason: reasonOf(error) };
    await note(desk, person, { kind: 'decision_refused', runId, askId, facts });
    throw error;
  };
  await checkFits(runId, ask, value).catch(refuse);
  await note(desk, person, { kind: 'answered', runId, askId, facts: { value: digestOf(value) } });
  try {
    const run = await ownHandle(desk, person.tenant, runId);
    const answerer = { by: person.id, roles: person.roles };
    const delivery = await run.answer(askId, { kind: 'text', value }, answerer);
    return answerOf(delivery, { askId, runId });
  } catch (error) {
    return refuse(error);
  }
}

function alreadyAnswered(): Problem {
  return new Problem(409, { code: 'already_decided', detail: 'The question has been answered.' });
}

export const decisionEndpoints: readonly Endpoint[] = [decide, answer];
