/**
 * Messages to a run, and stopping it.
 * Invariant: what was to be sent is in the audit trail before, and that it was not sent, after it; while the store is
 * away nobody is kept from it, and the rows are owed.
 */
import { z } from 'zod';
import { STORE_AWAY, unlessStoreAway } from '../../client/index.js';
import { endpoint, type EndpointRequest, type Endpoint } from '../http/endpoint.js';
import { Problem, reasonOf } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { noteOrOwe, type Deed } from '../trail.js';
import { asMissing } from './away.js';
import { ownHandle, ownRun } from './runs.js';

const params = z.strictObject({ runId: shapes.id });
const sent = z.object({ runId: z.string(), messageId: z.string().optional() });

type AskedOfRun = Pick<
  EndpointRequest<z.output<typeof params>, object, unknown>,
  'desk' | 'person' | 'params'
>;
type Sending = Pick<Deed, 'facts'> & { readonly kind: 'message_sent' | 'interrupted' };
type Run = Awaited<ReturnType<typeof ownHandle>>;

async function send<T>(
  { desk, person, params: where }: AskedOfRun,
  deed: Sending,
  work: (run: Run) => Promise<T>,
): Promise<{ readonly runId: string; readonly answer: T }> {
  const { runId } = where;
  const row = await unlessStoreAway(desk.store, () => ownRun(desk, person, runId));
  if (row !== STORE_AWAY && row.kind === 'goal') throw notARun(runId);
  // Whose it is says Temporal then; a run that is not theirs is not there.
  if (row === STORE_AWAY) await desk.client.forTenant(person.tenant).ownRun(runId).catch(asMissing);
  await noteOrOwe(desk, person, { ...deed, runId });
  try {
    return { runId, answer: await work(await ownHandle(desk, person.tenant, runId)) };
  } catch (error) {
    const decision = deed.kind === 'interrupted' ? 'interrupt' : 'message';
    const facts = { decision, reason: reasonOf(error) };
    await noteOrOwe(desk, person, { kind: 'decision_refused', runId, facts });
    throw error;
  }
}

/** A goal has no ear for what is said to runs: the word would be acknowledged and lost. */
function notARun(goalId: string): Problem {
  const path = `/v1/goals/${encodeURIComponent(goalId)}`;
  return new Problem(409, {
    code: 'not_applicable',
    detail: "The id is a goal's, not a run's.",
    hint: `Say it to the goal: POST ${path}/steer, ${path}/stop or ${path}/cancel.`,
  });
}

const sendMessage = endpoint({
  method: 'post',
  path: '/v1/runs/{runId}/messages',
  name: 'sendMessage',
  summary: 'A follow-up of the user; the same id again is ignored.',
  access: 'message',
  params,
  body: shapes.messageBody,
  answers: { 202: { description: 'Sent.', schema: sent } },
  async handle(asked) {
    const { text, id } = asked.body;
    const deed = { kind: 'message_sent', facts: { chars: text.length } } as const;
    const { runId, answer: messageId } = await send(asked, deed, (run) =>
      run.sendMessage(text, id),
    );
    return { status: 202, body: { runId, messageId } };
  },
});

const interrupt = endpoint({
  method: 'post',
  path: '/v1/runs/{runId}/interrupt',
  name: 'interrupt',
  summary: 'Stops the run at once; what is under way ends in order.',
  access: 'interrupt',
  params,
  body: shapes.emptyBody,
  answers: { 202: { description: 'Sent.', schema: sent } },
  async handle(asked) {
    const { runId } = await send(asked, { kind: 'interrupted' }, (run) => run.interrupt());
    return { status: 202, body: { runId } };
  },
});

export const controlEndpoints: readonly Endpoint[] = [sendMessage, interrupt];
