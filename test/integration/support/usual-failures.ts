/** What goes wrong in production, run by run: what the model says, what people do, and how it ends. */
import type { Decider } from '../../../client/decide/decide.js';
import type { RunHandle } from '../../../client/runs/run-handle.js';
import type { ScriptedAnswer } from '../../../providers/scripted/script.js';
import { atWork } from './failing-shop.js';
import { openAsk, say, until, type StartIn, type World } from './world.js';

const LEAD: Decider = { by: 'lea', roles: ['lead'] };

export interface Failure extends Partial<Omit<StartIn, 'runId'>> {
  readonly replies: readonly ScriptedAnswer[];
  /** What people do meanwhile. */
  readonly people?: (run: RunHandle, world: World) => Promise<unknown>;
  /** How the run ends, with its detail; absent: it completes. */
  readonly ends?: string;
  /** What runs below it say, by their places. */
  readonly below?: { readonly [place: string]: readonly ScriptedAnswer[] };
  /** It is no run of one agent alone: a case of the configuration is one of that agent. */
  readonly isTree?: true;
  /** Its case does the same in other rows: several hooks of a point are one, or two words of a moment arrive at once. */
  readonly inOtherRows?: true;
  /** Why it is no case. */
  readonly refused?: RegExp;
}

const call = (tool: string, how: string) => ({ calls: [{ tool, input: { how } }] });
const SORRY = say('Sorry.');

const decide = (decision: 'happened' | 'not_happened' | 'stop') => async (run: RunHandle) =>
  run.decideOn({ ...LEAD, askId: (await openAsk(run)).askId, decision });
const approve = async (run: RunHandle) => run.approve((await openAsk(run)).askId, LEAD);
const reject = async (run: RunHandle) =>
  run.reject((await openAsk(run)).askId, { ...LEAD, reason: 'Not this one.' });

/** Decided once somebody has seen the question, and something else has happened meanwhile. */
const approvedAfter =
  (meanwhile: (world: World) => Promise<unknown>): Failure['people'] =>
  async (run, world) => {
    const { askId } = await openAsk(run);
    await meanwhile(world);
    await run.approve(askId, LEAD);
  };

async function payFirst(world: World): Promise<void> {
  const first = await world.start({
    runId: 'first-of-the-day',
    replies: [call('pay.limited', 'ok'), SORRY],
  });
  await approve(first);
  await world.ended(first);
}

const freezing = (pattern: string) => async (world: World) =>
  world.store.setFreeze('default', {
    id: `frz-${pattern}`,
    scope: { kind: 'tool', pattern },
    by: 'mia',
    reason: 'fraud',
    at: Date.now(),
  });

const whileAtWork =
  (act: (run: RunHandle, world: World) => Promise<unknown>): Failure['people'] =>
  async (run, world) => {
    await until('its tool to work', () => (atWork.has(run.runId) ? true : undefined));
    await act(run, world);
  };

export const FAILURES: { readonly [name: string]: Failure } = {
  'a read that throws': { replies: [call('look', 'throws'), SORRY] },
  'a read that says what is wrong': {
    replies: [call('look', 'tool_error'), SORRY],
  },
  'a read that is busy once': { replies: [call('look', 'busy_once'), SORRY] },
  'a read that stays busy': {
    replies: [call('look', 'busy'), call('look', 'busy'), SORRY],
    ends: 'needs_human repeated_tool_failure',
  },
  'a read that is away': { replies: [call('look', 'away'), SORRY] },
  'a read that is too slow': {
    replies: [call('look', 'hangs'), SORRY],
    ends: 'needs_human repeated_tool_failure',
  },
  'a read with a long result': { replies: [call('look', 'long'), SORRY] },
  'a read whose result does not fit': {
    replies: [call('look.typed', 'unfit'), SORRY],
  },
  'a result that is no JSON': {
    replies: [call('look', 'nan'), SORRY],
    refused: /was not kept/,
  },
  'a quick read that throws': { replies: [call('look.quick', 'throws'), SORRY] },
  'a quick read that is too slow': {
    replies: [call('look.quick', 'hangs'), SORRY],
    ends: 'needs_human repeated_tool_failure',
  },
  'a quick read that is busy once': {
    replies: [call('look.quick', 'busy_once'), SORRY],
  },
  'a payment that is frozen between two attempts': {
    replies: [call('pay.stopped', 'busy'), SORRY],
    people: whileAtWork((_, world) => freezing('pay.stopped')(world)),
  },
  'a payment that says what is wrong': {
    replies: [call('pay', 'tool_error'), SORRY],
  },
  'a payment that throws, and had happened': {
    replies: [call('pay', 'throws'), SORRY],
    people: decide('happened'),
  },
  'a payment that throws, and had not happened': {
    replies: [call('pay', 'throws'), SORRY],
    people: async (run) => {
      await decide('not_happened')(run);
      await decide('stop')(run);
    },
    ends: 'needs_human outcome_unknown',
  },
  'a payment that is too slow, which ends the run': {
    replies: [call('pay', 'hangs'), SORRY],
    people: decide('stop'),
    ends: 'needs_human outcome_unknown',
  },
  'a payment in doubt, which is told to the model': {
    replies: [call('pay', 'throws'), SORRY],
    settings: { onOutcomeUnknown: 'observe' },
  },
  'a payment whose result does not fit': {
    replies: [call('pay.typed', 'unfit'), SORRY],
  },
  'a refused approval': {
    replies: [call('pay.asked', 'ok'), SORRY],
    people: reject,
  },
  'a corrected approval': {
    replies: [call('pay.asked', 'throws'), SORRY],
    people: async (run) =>
      run.modify((await openAsk(run)).askId, { how: 'ok', order: 'O-2' }, LEAD),
  },
  'an approved payment that fails': {
    replies: [call('pay.asked', 'tool_error'), SORRY],
    people: approve,
  },
  'an approval that expires, which is a no': {
    replies: [call('pay.hurried', 'ok'), SORRY],
  },
  'an approval that expires, which ends the run': {
    replies: [call('pay.strict', 'ok'), SORRY],
    ends: 'needs_human approval_timeout',
  },
  'a run that may not wait for an approval': {
    replies: [call('pay.asked', 'ok'), SORRY],
    settings: { approvalMode: 'stop' },
    ends: 'needs_human approval_required',
  },
  'a limit across runs, met behind the question': {
    replies: [call('pay.limited', 'ok'), SORRY],
    people: approvedAfter(payFirst),
  },
  'a limit across runs, met before the question': {
    replies: [call('pay.unasked', 'ok'), call('pay.unasked', 'ok'), SORRY],
    refused: /used up a limit/,
  },
  'a frozen tool': {
    replies: [call('pay.frozen', 'ok'), SORRY],
    people: approvedAfter(freezing('pay.frozen')),
  },
  'a policy that denies': { replies: [call('wipe', 'ok'), SORRY] },
  'a policy that ends the run': {
    replies: [call('wipe', 'ok'), SORRY],
    settings: { onDeny: 'refuse' },
    ends: 'refused denied_action',
  },
  'a hook that denies': {
    replies: [call('look', 'ok'), call('pay.guarded', 'ok'), SORRY],
  },
  'a hook that throws': { replies: [call('pay.guarded', 'throws'), SORRY] },
  'an answer that a hook sends back for ever': {
    agent: 'strict',
    replies: [SORRY, SORRY, SORRY, SORRY, SORRY],
    ends: 'stop_hook_prevented reentry_limit',
  },
  'arguments that do not fit': {
    replies: [{ calls: [{ tool: 'look', input: { who: 1 } }] }, SORRY],
  },
  'arguments that are no JSON': {
    replies: [{ calls: [{ tool: 'look', rawInput: '{"how": ' }] }, SORRY],
  },
  'a tool that there is not': { replies: [call('made.up', 'ok'), SORRY] },
  'the same call again and again': {
    replies: Array.from({ length: 8 }, () => call('look', 'ok')),
    ends: 'needs_human no_progress',
  },
  'too many turns': {
    replies: Array.from({ length: 4 }, (_, n) => call('look', `ok ${n}`)),
    budget: { maxTurns: 2 },
    ends: 'max_turns',
  },
  'too many turns, with a last word': {
    replies: [...Array.from({ length: 2 }, (_, n) => call('look', `ok ${n}`)), SORRY],
    budget: { maxTurns: 2 },
    settings: { wrapUpTurn: true },
    ends: 'max_turns',
  },
  'too many calls': {
    replies: [{ calls: ['a', 'b', 'c'].map((how) => ({ tool: 'look', input: { how } })) }, SORRY],
    budget: { maxToolCalls: 2 },
    ends: 'max_tool_calls',
  },
  'too little money': {
    replies: [{ ...call('look', 'ok'), usage: { input: 900_000 } }, SORRY],
    budget: { maxCostUsd: 0.02 },
    ends: 'max_cost',
  },
  'too few tokens': {
    replies: [{ ...call('look', 'ok'), usage: { output: 90 } }, SORRY],
    budget: { maxOutputTokens: 90 },
    ends: 'max_output_tokens',
  },
  'more money, which a person allows': {
    replies: [
      { ...call('look', 'ok'), usage: { input: 3_000, output: 10 } },
      { ...SORRY, usage: { input: 900, output: 10 } },
    ],
    budget: { maxCostUsd: 0.02 },
    settings: { onBudget: 'ask' },
    people: approve,
  },
  'more money, which a person refuses': {
    replies: [{ ...call('look', 'ok'), usage: { input: 3_000, output: 10 } }, SORRY],
    budget: { maxCostUsd: 0.02 },
    settings: { onBudget: 'ask' },
    people: reject,
    ends: 'max_cost',
  },
  'a model that is overloaded once': { replies: [[{ status: 529 }, SORRY]] },
  'a model that stays overloaded': {
    replies: [{ status: 529 }],
    budget: { maxRetriesPerModelCall: 1 },
    ends: 'failed model_error:Overloaded',
  },
  'a model that another one takes over from': {
    replies: [[{ status: 529 }, { status: 529 }, SORRY]],
    budget: { maxRetriesPerModelCall: 1 },
    settings: { fallbackModel: 'scripted/other' },
  },
  'a model without a key': { replies: [{ status: 401 }], ends: 'failed model_error:AuthError' },
  'a request that the vendor refuses': {
    replies: [{ status: 400 }],
    ends: 'failed model_error:InvalidRequest',
  },
  'a model that refuses': {
    replies: [{ text: 'I must not.', stopReason: 'refusal' }],
    ends: 'refused model_refusal',
  },
  'an empty reply': { replies: [{ text: '' }, { text: '' }], ends: 'empty_response' },
  'a reply that is cut at its length': {
    replies: [{ text: 'It is ', stopReason: 'max_tokens' }, say('blue.')],
  },
  'a stream that is cut': {
    replies: [[{ text: 'So far', cutAfterChunks: 3 }, SORRY]],
  },
  'a conversation that is too long': {
    replies: [
      call('look', 'ok'),
      { status: 400, message: 'prompt is too long' },
      { status: 400, message: 'prompt is too long' },
    ],
    ends: 'prompt_too_long',
  },
  'an answer that does not fit its schema': {
    replies: [SORRY, SORRY, SORRY],
    task: {
      goal: 'Serve.',
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    },
    ends: 'invalid_output',
  },
  'an answer that fits at the second time': {
    replies: [SORRY, say('{"sum": 3}')],
    task: {
      goal: 'Serve.',
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    },
  },
  'a refused handoff': {
    replies: [
      { calls: [{ tool: 'handoff', input: { to: 'billing', summary: 'A bill.' } }] },
      SORRY,
    ],
    people: reject,
  },
  'a question that nobody answers': {
    replies: [{ calls: [{ tool: 'ask_person', input: { question: 'Which?' } }] }, SORRY],
    settings: { inputTimeoutMs: 1_500 },
    ends: 'needs_human user_input_required',
  },
  'an interrupt at a question': {
    replies: [call('pay.asked', 'ok'), SORRY],
    people: async (run) => {
      await openAsk(run);
      await run.interrupt();
    },
    ends: 'interrupted',
  },
  'a cancel at a question': {
    replies: [call('pay.asked', 'ok'), SORRY],
    people: async (run) => {
      await openAsk(run);
      await run.cancel();
    },
    ends: 'aborted',
  },
  'an interrupt of a read that does not listen': {
    replies: [call('look.typed', 'deaf'), SORRY],
    people: whileAtWork((run) => run.interrupt()),
    ends: 'interrupted',
  },
  'an interrupt of a payment that does not listen': {
    replies: [call('pay.asked', 'deaf'), SORRY],
    people: async (run, world) => {
      await approve(run);
      await whileAtWork((one) => one.interrupt())!(run, world);
    },
    ends: 'interrupted',
  },
  'a cancel of a read that fails by itself': {
    replies: [call('look.typed', 'deaf_error'), SORRY],
    people: whileAtWork((run) => run.cancel()),
    ends: 'aborted',
  },
  'an interrupt of a read that hangs': {
    replies: [call('look.typed', 'hangs'), SORRY],
    people: whileAtWork((run) => run.interrupt()),
    ends: 'interrupted',
  },
  'a word of the user while a read works': {
    replies: [call('look.typed', 'deaf'), SORRY],
    people: whileAtWork((run) => run.sendMessage('Hurry.')),
  },
  'a word of the user at a question': {
    replies: [call('pay.asked', 'ok'), SORRY, SORRY],
    people: async (run) => {
      await openAsk(run);
      await run.sendMessage('Leave it.');
      await reject(run);
    },
  },
  'an approval that one of two refuses': {
    replies: [call('pay.two', 'ok'), SORRY],
    people: async (run) => {
      await approve(run);
      const { askId } = await openAsk(run);
      await run.reject(askId, { by: 'leo', roles: ['lead'], reason: 'No.' });
    },
  },
  'a decision of somebody who may not decide': {
    replies: [call('pay.asked', 'ok'), SORRY],
    people: async (run) => {
      const { askId } = await openAsk(run);
      await run.approve(askId, { by: 'tim', roles: ['clerk'] }).catch(() => undefined);
      await reject(run);
    },
  },
  'a payment in place of another one': {
    replies: [call('pay.asked', 'ok'), SORRY],
    people: async (run) =>
      run.replace((await openAsk(run)).askId, { tool: 'pay', args: { how: 'tool_error' } }, LEAD),
  },
  'the same once more': {
    replies: [call('pay.once', 'ok'), call('pay.once', 'ok'), SORRY],
    people: reject,
    refused: /repeated an earlier effect/,
  },
  'a question in doubt that a person refuses to judge': {
    replies: [call('pay', 'throws'), SORRY],
    settings: { inputTimeoutMs: 1_500, approvalTimeoutMs: 1_500 },
    ends: 'needs_human outcome_unknown',
  },
  'two hooks at one point': {
    agent: 'doubly',
    replies: [call('look', 'throws'), call('pay.guarded', 'ok'), SORRY],
    inOtherRows: true,
  },
  'a handoff, after which the next agent fails': {
    replies: [
      { calls: [{ tool: 'handoff', input: { to: 'billing', summary: 'A bill.' } }] },
      call('look', 'throws'),
      SORRY,
    ],
    people: approve,
    isTree: true,
  },
  'a sub-agent that has too few turns': {
    agent: 'boss',
    replies: [{ calls: [{ tool: 'agent', input: { name: 'auditor', prompt: 'Audit.' } }] }, SORRY],
    below: { a1: Array.from({ length: 4 }, (_, n) => call('look', `ok ${n}`)) },
    isTree: true,
  },
  'a sub-agent whose payment is refused': {
    agent: 'boss',
    replies: [{ calls: [{ tool: 'agent', input: { name: 'auditor', prompt: 'Audit.' } }] }, SORRY],
    below: { a1: [call('pay.asked', 'ok'), SORRY] },
    people: async (run, world) => {
      const { askId } = await openAsk(run);
      await world.client.handle(`${run.runId}:a1`).reject(askId, LEAD);
    },
    isTree: true,
  },
  'a sub-agent whose question expires': {
    agent: 'boss',
    replies: [{ calls: [{ tool: 'agent', input: { name: 'auditor', prompt: 'Audit.' } }] }, SORRY],
    below: { a1: [call('pay.hurried', 'ok'), SORRY] },
    isTree: true,
  },
  'a sub-agent whose model is away': {
    agent: 'boss',
    replies: [{ calls: [{ tool: 'agent', input: { name: 'auditor', prompt: 'Audit.' } }] }, SORRY],
    below: { a1: [{ status: 401 }] },
    isTree: true,
  },
  'a sub-agent that there is not': {
    agent: 'boss',
    replies: [{ calls: [{ tool: 'agent', input: { name: 'judge', prompt: 'Judge.' } }] }, SORRY],
  },
  'several calls, of which one fails': {
    replies: [
      { calls: [call('look', 'ok'), call('look', 'throws')].flatMap((one) => one.calls) },
      SORRY,
    ],
  },
  'a model that asks for patience': {
    replies: [[{ status: 429, retryAfterSeconds: 1 }, SORRY]],
  },
  'a model whose server fails': { replies: [[{ status: 500 }, SORRY]] },
  'a model that nobody knows': {
    replies: [call('pay.asked', 'ok'), SORRY],
    people: async (run) => {
      await openAsk(run);
      await run.setModel('nobody/knows');
      await approve(run);
    },
    inOtherRows: true,
  },
  'a mode that forbids': {
    replies: [call('pay.asked', 'ok'), SORRY],
    people: async (run) => {
      await openAsk(run);
      await run.setPermissionMode('plan');
    },
  },
  'a question of a run that a page interrupts and closes': {
    replies: [call('look', 'ok'), call('pay.asked', 'ok'), SORRY],
    people: async (run) => {
      await openAsk(run);
      await run.interrupt();
      await run.close().catch(() => undefined);
    },
    ends: 'interrupted',
  },
  'a user who does not answer': {
    replies: [SORRY],
    settings: { afterAnswer: 'await_user', idleTimeoutMs: 1_500 },
  },
  'too little time': {
    replies: [{ ...call('look', 'ok'), delayMs: 60_000 }],
    budget: { timeoutMs: 2_000 },
    ends: 'timeout',
  },
};
