/** A run ends while a call is back and nothing has been decided about it: each fact has its result. */
import { settleRest } from '../../../core/loop/closing.js';
import type { Call, CallFact } from '../../../core/state/call.js';
import type { OpenRun, Stopping } from '../../../core/state/run.js';
import { call, calls, says, tool } from '../script.js';
import { createShell, until } from '../shell.js';

const OUTCOME = (outcome: object) => ({ kind: 'outcome', outcome }) as CallFact;
const FINDING = (finding: object) => ({ kind: 'finding', finding }) as CallFact;
const RECORDED = (answer: string) =>
  ({ kind: 'recorded', answer, content: { text: 'seen' } }) as CallFact;
const FAILURE = {
  kind: 'failure',
  doing: 'execute',
  outOfTime: false,
  failure: { code: 'Internal', message: 'lost' },
} as const;

/** `status code text` of the one call's result. */
function resultOf(fact: CallFact, { effect = 'financial', reason = 'interrupted' } = {}): string {
  const pay = tool('x_pay', { effect: effect as 'read', idempotency: 'keyed', approval: 'never' });
  const model = [calls(call('a', 'x_pay', {})), says('done')];
  const shell = createShell({
    tools: [pay],
    policy: [{ tool: '*', decision: 'allow' }],
    model,
    outcomes: { x_pay: [{ hang: true }] },
  });
  until(shell, 'tool_started');
  const run = shell.run as OpenRun;
  const turn = run.turn!;
  const executing = turn.calls[0]! as Extract<Call, { stage: 'executing' }>;
  const returned = { ...executing, stage: 'returned', durationMs: 1, fact } as unknown as Call;
  const stopping = { reason, phase: 'tools' } as Stopping;
  const settled = settleRest({ ...run, turn: { ...turn, calls: [returned] } }, stopping);
  expect(settled.turn).toBeUndefined();
  const finished = settled.outbox.events.flatMap((event) =>
    event.type === 'tool_finished' ? [event] : [],
  );
  expect(finished).toHaveLength(1);
  const { status, code, content, synthetic } = finished[0]!;
  const text = content !== null && 'text' in content ? content.text.slice(0, 24) : '';
  return [status, code ?? '-', synthetic ? 'synthetic' : 'real', text].join(' ');
}

const UNKNOWN = 'error outcome_unknown synthetic Nobody knows whether thi';
const INTERRUPTED = 'error interrupted_mid_execution synthetic Interrupted mid-executio';

test.each<[string, CallFact, string]>([
  ['it was done', OUTCOME({ kind: 'ok', content: { text: 'paid' } }), 'ok - real paid'],
  [
    'it was refused',
    OUTCOME({ kind: 'error', code: 'execution_error', message: 'no' }),
    'error execution_error real no',
  ],
  [
    'it was interrupted',
    OUTCOME({ kind: 'error', code: 'interrupted_mid_execution', message: 'stopped' }),
    'error interrupted_mid_execution synthetic stopped',
  ],
  ['nobody knows', OUTCOME({ kind: 'ambiguous', message: 'cut' }), UNKNOWN],
  ['its key was taken', OUTCOME({ kind: 'key_conflict', message: 'other' }), INTERRUPTED],
  ['the same was done before', OUTCOME({ kind: 'repeats', repeats: { keys: [] } }), INTERRUPTED],
  [
    'it was found to have happened',
    FINDING({ kind: 'happened', content: { text: 'paid' } }),
    'ok - real paid',
  ],
  [
    'what was found does not fit',
    FINDING({ kind: 'happened', content: { text: 'paid' }, malformed: 'no number' }),
    'error malformed_result real no number',
  ],
  ['it was found not to have happened', FINDING({ kind: 'not_happened' }), INTERRUPTED],
  ['nothing was found', FINDING({ kind: 'unknown', message: 'silence' }), UNKNOWN],
  ['it is to be repeated', FINDING({ kind: 'repeat' }), UNKNOWN],
  ['a person said that it happened', RECORDED('happened'), 'ok - real seen'],
  ['a person said that it did not', RECORDED('not_happened'), INTERRUPTED],
  ['a word proves nothing', { kind: 'unproven' } as CallFact, UNKNOWN],
  ['it was lost', FAILURE as CallFact, UNKNOWN],
])('%s', (_what, fact, result) => {
  expect(resultOf(fact)).toBe(result);
});

test('of a read nothing is in doubt, and time that has run out is said', () => {
  const fact = FAILURE as CallFact;
  expect(resultOf(fact, { effect: 'read' })).toBe(INTERRUPTED);
  expect(resultOf(fact, { effect: 'read', reason: 'timeout' })).toBe(
    'error timeout synthetic The time budget of the r',
  );
  expect(resultOf(fact, { reason: 'timeout' })).toBe(UNKNOWN);
});
