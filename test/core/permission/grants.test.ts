import { GRANTS_MAX } from '../../../core/permission/grants.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import { call, calls, decisionOn, says, tool, type Script } from '../script.js';
import {
  answer,
  askOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  pass,
  send,
  settle,
  started,
  warningsOf,
  type Shell,
} from '../shell.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SMALL = {
  matcher: { tool: 'issue_refund', when: [{ path: 'amount', lte: 50 }] },
  uses: 2,
  expiresInMs: HOUR,
};

/** One refund per turn, of these amounts. */
function refunds(amounts: readonly number[], more: Partial<Script> = {}): Shell {
  const turns = amounts.map((amount, index) =>
    calls(call(`c${index}`, 'issue_refund', { order: 'O', amount })),
  );
  const settings = { allowStandingGrants: true, ...more.settings };
  return settle(createShell({ model: [...turns, says('done')], ...more, settings }));
}

function granting(amounts: readonly number[], more: Partial<Script> = {}): Shell {
  const shell = refunds(amounts, more);
  answer(shell, { grant: SMALL });
  return settle(shell);
}

describe('a standing grant', () => {
  test('covers later calls that match, so often and no more', () => {
    const shell = granting([10, 20, 30, 40]);
    expect(executedOf(shell)).toHaveLength(3);
    expect(askOf(shell)).toMatchObject({ callId: 'c3' });
  });

  test('is told with the approval that made it and named by each use', () => {
    const shell = granting([10, 20]);
    finish(shell);
    expect(ofType(shell, 'approval_resolved')).toMatchObject([
      { askId: 'run_1:0', by: ['pat'], grant: SMALL },
      { askId: 'run_1:1', by: ['pat'], reason: 'grant:run_1:0' },
    ]);
    expect(ofType(shell, 'permission').at(-1)).toMatchObject({
      decision: 'allow',
      rule: 'grant:run_1:0',
    });
    expect(started(shell, 'execute_tool')[1]!.input.grant).toMatchObject({
      basis: 'ask',
      approvedBy: ['pat'],
    });
  });

  test('does not cover what its matcher does not say', () => {
    const shell = granting([10, 51]);
    expect(askOf(shell)).toMatchObject({ callId: 'c1' });
    const other = calls(call('e', 'send_email', { amount: 1 }));
    const first = calls(call('a', 'issue_refund', { order: 'O', amount: 1 }));
    const mixed = granting([], { model: [first, other, says('x')] });
    expect(askOf(mixed)).toMatchObject({ tool: 'send_email' });
  });

  test('ends with its time', () => {
    const model = [
      calls(call('a', 'issue_refund', { order: 'O', amount: 1 })),
      calls(call('b', 'ask_customer', { question: 'Again?' })),
      calls(call('c', 'issue_refund', { order: 'O', amount: 2 })),
      says('x'),
    ];
    const shell = granting([], { model });
    pass(shell, HOUR + 1);
    send(shell, { type: 'input_provided', askId: 'run_1:1', value: 'yes', by: 'cora' });
    settle(shell);
    expect(askOf(shell)).toMatchObject({ callId: 'c' });
  });

  test('that has run out leaves room for another one', () => {
    const amounts = Array.from({ length: GRANTS_MAX + 2 }, (_, index) => 100 + index);
    const budget = { maxTurns: 2 * GRANTS_MAX, maxToolCalls: 2 * GRANTS_MAX };
    const shell = refunds(amounts, { budget });
    const grant = { ...SMALL, expiresInMs: MINUTE };
    for (let given = 0; given < GRANTS_MAX; given += 1) {
      answer(shell, { grant, decidedAt: shell.now });
      settle(shell);
      // Behind long work it asks in a new segment.
      if (shell.run.final !== undefined) crossSegment(shell);
      settle(shell);
    }
    answer(shell, { grant, decidedAt: shell.now });
    expect(warningsOf(shell).at(-1)).toMatch('decision_ignored');
    pass(shell, MINUTE + 1);
    answer(shell, { grant, decidedAt: shell.now });
    settle(shell);
    expect(ofType(shell, 'approval_resolved').at(-1)).toMatchObject({ grant });
    expect(askOf(shell)).toMatchObject({ callId: `c${GRANTS_MAX + 1}` });
  });

  test('never lifts a denial, nor what planning forbids', () => {
    const policy = [
      { tool: 'issue_refund', decision: 'deny', when: { path: 'amount', equals: 13 } },
    ];
    const shell = granting([10, 13], { policy: policy as Script['policy'] & object });
    finish(shell);
    expect(executedOf(shell)).toHaveLength(1);
    const planning = refunds([10, 20]);
    const decision = decisionOn(askOf(planning), { grant: SMALL });
    send(planning, { type: 'decision', decision });
    send(planning, { type: 'set_permission_mode', mode: 'plan' });
    finish(planning);
    expect(executedOf(planning)).toHaveLength(1);
  });

  test('lets a call run under dontAsk, because nobody has to be asked', () => {
    const shell = refunds([10, 20]);
    const decision = decisionOn(askOf(shell), { grant: SMALL });
    send(shell, { type: 'decision', decision });
    send(shell, { type: 'set_permission_mode', mode: 'dontAsk' });
    finish(shell);
    expect(executedOf(shell)).toHaveLength(2);
  });
});

describe('whoever looks at a run', () => {
  test('learns which question can be answered with a grant', () => {
    const quorum = tool('issue_refund', {
      effect: 'financial',
      approval: { roles: [], quorum: 2 },
    });
    const offers = (shell: Shell) => viewOfRun(shell.run).asks.map((ask) => ask.takesGrant);
    expect(offers(refunds([10]))).toEqual([true]);
    expect(offers(refunds([10], { tools: [quorum] }))).toEqual([undefined]);
    expect(offers(refunds([10], { settings: { allowStandingGrants: false } }))).toEqual([
      undefined,
    ]);
  });

  test('sees the grants that may still cover a call, without signatures, until they are used up', () => {
    const shell = granting([10, 20, 60]);
    expect(viewOfRun(shell.run).grants).toEqual([
      {
        id: 'run_1:0',
        tool: 'issue_refund',
        when: SMALL.matcher.when,
        usesLeft: 1,
        expiresAt: expect.any(Number),
        by: ['pat'],
      },
    ]);
    expect(viewOfRun(granting([10, 20, 30, 60]).run).grants).toBeUndefined();
  });
});

describe('an approval with a grant is refused as a whole', () => {
  test.each([
    ['where the run takes none', { settings: { allowStandingGrants: false } }, SMALL],
    ['for another tool', {}, { ...SMALL, matcher: { ...SMALL.matcher, tool: 'delete_order' } }],
    [
      'where several have to agree',
      {
        tools: [tool('issue_refund', { effect: 'financial', approval: { roles: [], quorum: 2 } })],
      },
      SMALL,
    ],
  ])('%s', (_what, more, grant) => {
    const shell = refunds([10], more);
    answer(shell, { grant });
    expect(warningsOf(shell)).toEqual(['decision_ignored']);
    expect(executedOf(shell)).toEqual([]);
    expect(askOf(shell).askId).toBe('run_1:0');
  });
});
