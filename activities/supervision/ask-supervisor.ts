/**
 * ask_supervisor: one look of a supervisor at a run.
 * Invariants: those of every question (model-asking.ts), so a look is paid for once; what the supervisor is shown is the
 * goal and the events, as data; an answer that cannot be read is no word, and is told.
 */
import { NO_USAGE } from '../../core/state/model.js';
import { digestOf } from '../../core/json/json.js';
import type { AskSupervisorInput, AskSupervisorOutput } from '../../core/state/effect.js';
import type { ModelReply, ModelRequest } from '../../providers/provider.js';
import type { ActivityDeps } from '../deps.js';
import { accountFor, answerTo, prepareQuestion, takeReceipt } from '../model/model-asking.js';
import { usageOf } from '../model/reply-usage.js';
import type { RequestTerms } from '../model/model-attempt.js';
import { appendEvents } from '../run/append-events.js';
import type { Scope } from '../scope.js';
import { supervisorQuestion, type SupervisorQuestion } from './question.js';
import { wordIn } from './word.js';

export async function askSupervisor(
  deps: ActivityDeps,
  scope: Scope,
  input: AskSupervisorInput,
): Promise<AskSupervisorOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const question = await supervisorQuestion(deps.store, input);
  if (question === undefined) {
    const invalid = `the question does not fit into the ${input.bound.inputTokens} bytes that are paid for`;
    return { invalid, usage: NO_USAGE, lostCostMicroUsd: 0, lostUsage: NO_USAGE, eventsUpTo };
  }
  const asked = termsOf(input);
  const prepared = await deps.store.together((store) =>
    prepareQuestion({ ...deps, store }, scope, {
      asked,
      purpose: 'supervision',
      request: requestOf(input, question),
      replyKey: replyKeyOf(input),
    }),
  );
  const receipt = await answerTo(deps, scope, prepared);
  return takeReceipt(deps, scope, {
    receipt,
    async take({ store }): Promise<AskSupervisorOutput> {
      const { attempt, reply } = receipt.received;
      const account = await accountFor(store, scope, { run: input.run, replied: attempt });
      const { lostCostMicroUsd, lostUsage } = account;
      const usage = usageOf(asked, reply);
      return { ...outcomeOf(reply), usage, lostCostMicroUsd, lostUsage, eventsUpTo };
    },
  });
}

function termsOf(input: AskSupervisorInput): RequestTerms {
  const { run, bound, left, maxRetries, terms, workMs, unservedMs } = input;
  return {
    run,
    route: terms.route,
    maxTokens: terms.maxTokens,
    bound,
    left,
    maxRetries,
    ...(workMs !== undefined && { workMs }),
    ...(unservedMs !== undefined && { unservedMs }),
  };
}

function requestOf(
  { run, number, terms }: AskSupervisorInput,
  { system, text }: SupervisorQuestion,
): ModelRequest {
  const { route, maxTokens, agent } = terms;
  return {
    model: route.model,
    system,
    tools: [],
    messages: [{ role: 'user', blocks: [{ type: 'text', text }] }],
    maxTokens,
    ...(route.temperatureAllowed && { temperature: 0 }),
    metadata: { runId: run.runId, call: number, purpose: 'supervision', name: agent.name },
  };
}

/** The marks in the request are random: what names the request is what it is made from. */
function replyKeyOf({ run, number, from, to, goal, terms }: AskSupervisorInput) {
  const { agent, route, instructions, maxTokens } = terms;
  const { tenant, runId } = run;
  const made = { purpose: 'supervision', number, from, to, goal, maxTokens, model: route.model };
  const requestDigest = digestOf({
    ...made,
    agent: { ...agent },
    instructions: { ...instructions },
  });
  return { tenant, runId, call: number, requestDigest };
}

function outcomeOf(reply: ModelReply): Pick<AskSupervisorOutput, 'word' | 'invalid'> {
  if (reply.partial === true) return { invalid: 'the answer was interrupted' };
  if (reply.stop === 'refusal') return { invalid: 'the model refused to answer' };
  const text = reply.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const output = wordIn(text);
  return output.ok ? { word: output.value } : { invalid: output.defect };
}
