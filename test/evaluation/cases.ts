/** Hand-written cases in the spirit of the scenarios A to D, with what must be seen of them in any engine. */
import { parseFixture } from '../../evaluation/read-fixture.js';
import type { Fixture } from '../../evaluation/fixture.js';
import type { Essence } from './essence.js';

export interface Case {
  readonly what: string;
  readonly fixture: Fixture;
  readonly essence: Essence;
  /** Why the temporal engine cannot play it. */
  readonly onlyVirtual?: 'needs virtual time';
}

export function fixtureOf(written: { readonly case_id: string; readonly [key: string]: unknown }) {
  const whole = { expected: { completed: true }, ...written };
  return parseFixture(JSON.stringify(whole), `${written.case_id}.json`);
}

const READ = { id: 'a', tool: 'read_order', input: { orderId: 'A-104' } };
const REFUND = { id: 'a', tool: 'issue_refund', input: { order: 'O-104', amount: 50 } };
const NOTE = { id: 'a', tool: 'write_note', input: { text: 'n' } };
const MAIL = { id: 'a', tool: 'send_email', input: { text: 'n' } };
const DONE = { text: 'done' };

type Written = Omit<Case, 'fixture'> & {
  readonly case: Parameters<typeof fixtureOf>[0];
};

function resolve(more: object, call = 'a'): object {
  return { resolveApproval: { call, ...more } };
}

const WRITTEN: readonly Written[] = [
  {
    what: 'a tool, then an answer',
    case: {
      case_id: 'tool-then-answer',
      profile: 'strict001',
      model: [{ calls: [READ] }, { text: 'The order shipped.' }],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a read_order tool-then-answer:0 1'],
      effects: { read_order: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a forbidden action ends the run and is never handed over',
    case: {
      case_id: 'forbidden',
      task: { forbiddenActions: ['issue_refund'] },
      model: [{ calls: [REFUND] }],
    },
    essence: {
      stop: 'refused denied_action',
      history: 'U A R',
      results: { a: 'tool_not_allowed' },
    },
  },
  {
    what: 'a tool that fails is told to the model',
    case: {
      case_id: 'failing-tool',
      tools: { read_order: { results: [{ error: 'gone' }] } },
      model: [{ calls: [READ] }, DONE],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a read_order failing-tool:0 1'],
      results: { a: 'execution_error' },
    },
  },
  {
    what: 'a context that fills up is summarised beside the goal',
    case: {
      case_id: 'summarised',
      settings: { contextWindow: 20_000 },
      model: [{ calls: [READ], usage: { input: 16_100, output: 100 } }, DONE],
      compaction: [{ summary: 'The order was read.' }],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U U A',
      executed: ['a read_order summarised:0 1'],
      effects: { read_order: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a prompt that is too long is summarised however short it is, once',
    case: {
      case_id: 'too-long-twice',
      model: [{ error: { kind: 'prompt_too_long' } }, { error: { kind: 'prompt_too_long' } }],
    },
    essence: { stop: 'prompt_too_long', history: 'U U' },
  },
  {
    what: 'an exhausted script asks for a person',
    case: { case_id: 'exhausted', model: [{ calls: [READ] }] },
    essence: {
      stop: 'needs_human escalated',
      history: 'U A R',
      executed: ['a read_order exhausted:0 1'],
      effects: { read_order: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a goal of nothing starts nothing',
    case: { case_id: 'no-goal', goal: ' ', model: [DONE] },
    essence: { stop: 'InvalidTask', history: '' },
  },
  {
    what: 'an approved call runs once, under its key',
    case: {
      case_id: 'approved',
      model: [{ calls: [REFUND] }, DONE],
      during: [{ on: { event: 'approval_requested' }, do: resolve({ decision: 'approve' }) }],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a issue_refund approved:0 1'],
      effects: { issue_refund: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a rejected call never runs',
    case: {
      case_id: 'rejected',
      model: [{ calls: [REFUND] }, DONE],
      during: [
        {
          on: { event: 'approval_requested' },
          do: resolve({ decision: 'reject', reason: 'too high' }),
        },
      ],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      results: { a: 'approval_rejected' },
    },
  },
  {
    what: 'consent to other arguments is no consent',
    case: {
      case_id: 'mismatch',
      model: [{ calls: [REFUND] }, DONE],
      during: [
        {
          on: { event: 'approval_requested' },
          do: [
            resolve({ decision: 'approve', argsHashOf: { order: 'O-104', amount: 500 } }),
            resolve({ decision: 'reject' }),
          ],
        },
      ],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      results: { a: 'approval_rejected' },
    },
  },
  {
    what: 'an approval that nobody gives in time ends the run',
    onlyVirtual: 'needs virtual time',
    case: {
      case_id: 'expired',
      settings: { approvalTimeoutMs: 3_600_000 },
      model: [{ calls: [REFUND] }, DONE],
      during: [
        {
          on: { event: 'approval_requested' },
          do: [{ advance: '2h' }, resolve({ decision: 'approve' })],
        },
      ],
    },
    essence: {
      stop: 'needs_human approval_timeout',
      history: 'U A R',
      results: { a: 'approval_expired' },
    },
  },
  {
    what: 'a budget of turns ends with the results of the last one',
    case: { case_id: 'max-turns', budget: { maxTurns: 1 }, model: [{ calls: [READ] }, DONE] },
    essence: {
      stop: 'max_turns',
      history: 'U A R',
      executed: ['a read_order max-turns:0 1'],
      effects: { read_order: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'what the reply has cost keeps its calls from running',
    case: {
      case_id: 'max-cost',
      budget: { maxCostMicroUsd: 1_000_000 },
      model: [{ calls: [NOTE], usage: { input: 400_000 } }],
    },
    essence: { stop: 'max_cost', history: 'U A R', results: { a: 'budget_exceeded' } },
  },
  {
    what: 'rate limits and server errors are one logical call',
    case: {
      case_id: 'retries',
      model: [
        { error: { status: 429, retryAfterSeconds: 1 } },
        { error: { status: 503 } },
        { text: 'ok' },
      ],
    },
    essence: { stop: 'completed final_answer', history: 'U A' },
  },
  {
    what: 'a wrong key is not tried twice',
    case: { case_id: 'wrong-key', model: [{ error: { status: 401 } }, DONE] },
    essence: { stop: 'failed model_error:AuthError', history: 'U' },
  },
  {
    what: 'a read that does not answer is read again',
    case: {
      case_id: 'read-again',
      tools: { read_order: { timeoutMs: 300, results: [{ timeout: true }, { ok: 'shipped' }] } },
      model: [{ calls: [READ] }, DONE],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a read_order read-again:0 2'],
      effects: { read_order: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a keyed write that was lost after it happened happens once',
    case: {
      case_id: 'lost-after',
      tools: { write_note: { timeoutMs: 300, results: [{ lost: 'after' }, { ok: 'noted' }] } },
      model: [{ calls: [NOTE] }, DONE],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a write_note lost-after:0 2'],
      effects: { write_note: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'an e-mail that was lost is not sent again unless a person says so',
    case: {
      case_id: 'lost-before',
      tools: {
        send_email: {
          approval: 'never',
          timeoutMs: 300,
          results: [{ lost: 'before' }, { ok: 'sent' }],
        },
      },
      model: [{ calls: [MAIL] }, DONE],
      during: [{ on: { event: 'input_request' }, do: resolve({ decision: 'not_happened' }) }],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a send_email lost-before:0 2'],
      effects: { send_email: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'an interrupt in the stream keeps what had arrived',
    case: {
      case_id: 'interrupt-stream',
      model: [{ text: 'a text in two halves' }],
      during: [{ on: { modelCall: 1, at: 'streaming' }, do: { interrupt: true } }],
    },
    essence: { stop: 'interrupted streaming', history: 'U A' },
  },
  {
    what: 'an interrupt before a tool answers stops it',
    case: {
      case_id: 'interrupt-tool',
      tools: { read_order: { results: [{ hang: true }] } },
      model: [{ calls: [READ, { ...READ, id: 'b' }] }],
      during: [{ on: { event: 'tool_started', call: 'a' }, do: { interrupt: true } }],
    },
    essence: {
      stop: 'interrupted tools',
      history: 'U A R',
      executed: ['a read_order interrupt-tool:0:0 1'],
      results: { a: 'interrupted_mid_execution', b: 'interrupted_mid_execution' },
    },
  },
  {
    what: 'a run that is cancelled at once asks no model',
    case: {
      case_id: 'cancel-at-start',
      model: [DONE],
      during: [{ on: { start: true }, do: { cancel: true } }],
    },
    essence: { stop: 'aborted before_model', history: 'U' },
  },
  {
    what: 'a worker that dies while the model speaks pays for one reply',
    case: {
      case_id: 'killed-model',
      model: [{ calls: [READ] }, DONE],
      during: [{ on: { modelCall: 2, at: 'streaming' }, do: { killWorker: true } }],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a read_order killed-model:0 1'],
      effects: { read_order: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a worker that dies while a person is asked changes nothing',
    case: {
      case_id: 'killed-waiting',
      model: [{ calls: [REFUND] }, DONE],
      during: [
        {
          on: { event: 'approval_requested' },
          do: [{ killWorker: true }, resolve({ decision: 'approve' })],
        },
      ],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a issue_refund killed-waiting:0 1'],
      effects: { issue_refund: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a worker that was away for a while goes on',
    case: {
      case_id: 'restarted',
      model: [{ calls: [REFUND] }, DONE],
      during: [
        {
          on: { event: 'approval_requested' },
          do: [{ restartWorker: { downMs: 500 } }, resolve({ decision: 'approve' })],
        },
      ],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a issue_refund restarted:0 1'],
      effects: { issue_refund: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a run that continues as new goes on where it was',
    case: {
      case_id: 'continued',
      model: [{ calls: [READ] }, { calls: [{ ...READ, id: 'b' }] }, DONE],
      during: [{ on: { modelCall: 1, at: 'after' }, do: { continueAsNew: true } }],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A R A',
      executed: ['a read_order continued:0 1', 'b read_order continued:1 1'],
      effects: { read_order: 2 },
      results: { a: 'ok', b: 'ok' },
    },
  },
  {
    what: 'an interrupt after the reply finds all of it and runs none of it',
    case: {
      case_id: 'interrupt-after',
      model: [{ text: 'let me look', calls: [READ] }, DONE],
      during: [{ on: { modelCall: 1, at: 'after' }, do: { interrupt: true } }],
    },
    essence: {
      stop: 'interrupted before_tools',
      history: 'U A R',
      results: { a: 'interrupted' },
    },
  },
  {
    what: 'an interrupt after a call keeps the next from running',
    case: {
      case_id: 'interrupt-between',
      model: [{ calls: [NOTE, { ...NOTE, id: 'b' }] }, DONE],
      during: [{ on: { event: 'tool_finished', call: 'a' }, do: { interrupt: true } }],
    },
    essence: {
      stop: 'interrupted tools',
      history: 'U A R',
      executed: ['a write_note interrupt-between:0:0 1'],
      effects: { write_note: 1 },
      results: { a: 'ok', b: 'interrupted_mid_execution' },
    },
  },
  {
    what: 'a run that is interrupted as soon as it is open asks no model',
    case: {
      case_id: 'interrupt-open',
      model: [DONE],
      during: [{ on: { event: 'session_init' }, do: { interrupt: true } }],
    },
    essence: { stop: 'interrupted before_model', history: 'U' },
  },
  {
    what: 'a message that comes while the model speaks is heard with the next request',
    case: {
      case_id: 'message',
      model: [{ calls: [READ] }, DONE],
      during: [{ on: { modelCall: 1, at: 'streaming' }, do: { userMessage: 'hurry' } }],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R U A',
      executed: ['a read_order message:0 1'],
      effects: { read_order: 1 },
      results: { a: 'ok' },
    },
  },
  {
    what: 'a conversation goes on with a message and ends when it is closed',
    case: {
      case_id: 'conversation',
      settings: { afterAnswer: 'await_user' },
      model: [{ text: 'one' }, { text: 'two' }],
      during: [
        { on: { event: 'input_request' }, do: { userMessage: 'and then?' } },
        { on: { event: 'input_request', n: 2 }, do: { close: true } },
      ],
    },
    essence: { stop: 'completed closed', history: 'U A U A' },
  },
  {
    what: 'a decision that comes before its question is kept for it',
    case: {
      case_id: 'early',
      model: [{ calls: [READ, { ...REFUND, id: 'b' }] }, DONE],
      during: [
        {
          on: { event: 'tool_started', call: 'a' },
          do: { resolveApproval: { call: 'b', decision: 'approve' } },
        },
      ],
    },
    essence: {
      stop: 'completed final_answer',
      history: 'U A R A',
      executed: ['a read_order early:0:0 1', 'b issue_refund early:0:1 1'],
      effects: { read_order: 1, issue_refund: 1 },
      results: { a: 'ok', b: 'ok' },
    },
  },
];

export const CASES: readonly Case[] = WRITTEN.map(({ case: written, ...rest }) => ({
  ...rest,
  fixture: fixtureOf(written),
}));
