/**
 * A run of many turns that uses all that a run can remember stays small (R1).
 *
 * HOLDFAST_WHOLE=1: of 1,000 turns; by then everything that is bounded has been full for 700 of them.
 */
import { GRANTS_MAX } from '../../../core/permission/grants.js';
import { pendingAsks } from '../../../core/step/open-work.js';
import { jsonBytes } from '../../../core/json/json.js';
import { STATE_INLINE_BYTES_MAX, STATE_PATHS_MAX } from '../../../core/dataflow/state.js';
import { call, calls, flows, says, tool, TOOLBOX, usage, withReply } from '../script.js';
import { answer, createShell, resultOf, send, tick } from '../shell.js';
import { WHOLE } from '../../seed.js';

const TURNS = WHOLE ? 1_000 : 300;
const RUN_BYTES_MAX = 64 * 1024;
const STEPS_MAX = 20 * TURNS;
const HOUR = 3_600_000;
/** For some of the later refunds. */
const GRANT = {
  matcher: { tool: 'issue_refund', when: [{ path: 'amount', lte: 50 }] },
  uses: 5,
  expiresInMs: HOUR,
};
/** Tools by the dozen: one that fails at first, so that its breaker counts. */
const READERS = Array.from({ length: 20 }, (_, n) => `x_ledger_of_branch_${n}`);

function turnOf(turn: number) {
  const order = { order: `O-${turn}`, amount: (turn % 90) + 1 };
  const read = { orderId: `order-${turn}`, _outputPath: `state.order.n${turn}` };
  const written = turn < STATE_PATHS_MAX ? [flows(`w${turn}`, 'read_order', read)] : [];
  return withReply(
    calls(
      ...written,
      call(`r${turn}`, READERS[turn % READERS.length]!, { day: turn }),
      ...(turn % 3 === 0 ? [call(`p${turn}`, 'issue_refund', order)] : []),
    ),
    usage(1_000 + 150 * (turn % 900), 100),
  );
}

describe('the size of a run', () => {
  test(`stays under ${RUN_BYTES_MAX} bytes over ${TURNS} turns with calls, questions, grants, state, hooks and messages`, () => {
    const replies = Array.from({ length: TURNS }, (_, turn) => turnOf(turn));
    const shell = createShell({
      task: { constraints: Array.from({ length: 20 }, (_, n) => `Rule ${n}: ${'x'.repeat(200)}`) },
      promptBytes: 200_000,
      settings: {
        toolExecution: 'dataflow',
        allowStandingGrants: true,
        onBudget: 'ask',
      },
      budget: {
        maxTurns: TURNS + 1,
        maxModelCalls: 'unlimited',
        maxToolCalls: 'unlimited',
        maxInputTokens: 'unlimited',
        maxOutputTokens: 'unlimited',
        maxCostMicroUsd: 'unlimited',
        timeoutMs: 'unlimited',
      },
      tools: [...TOOLBOX, ...READERS.map((name) => tool(name))],
      hookNames: {
        PreToolUse: ['look'],
        PostToolUse: ['note'],
        PostSampling: ['whisper'],
      },
      hooks: { whisper: [{ systemMessages: ['Be quick, be kind, be exact.'] }] },
      outcomes: {
        read_order: [{ ok: 'x'.repeat(STATE_INLINE_BYTES_MAX) }],
        [READERS[3]!]: [{ error: 'down', code: 'tool_unavailable' }, { ok: 'up' }],
      },
      model: [...replies, says('All of it is done.')],
    });
    let largest = 0;
    let asked = 0;
    for (let step = 0; step < STEPS_MAX && shell.run.final === undefined; step += 1) {
      if (step % 50 === 0) largest = Math.max(largest, jsonBytes(shell.run));
      if (step % 40 === 7) {
        send(shell, { type: 'user_message', text: 'And hurry, please.', id: `m${step}` });
      }
      const ask = pendingAsks(shell.run)[0];
      if (ask?.kind === 'approval') {
        asked += 1;
        const full = (shell.run.grants ?? []).length >= GRANTS_MAX;
        answer(shell, full ? {} : { grant: GRANT });
      } else if (!tick(shell)) throw new Error('the run waits for something else');
    }
    const { turnCount } = resultOf(shell).counters;
    expect({ turnCount, completed: resultOf(shell).completed }).toEqual({
      turnCount: TURNS + 1,
      completed: true,
    });
    expect(asked).toBeGreaterThan(10);
    expect(Object.keys(shell.run.state ?? {})).toHaveLength(STATE_PATHS_MAX);
    expect(largest).toBeGreaterThan(10_000);
    expect(largest).toBeLessThan(RUN_BYTES_MAX);
  });
});
