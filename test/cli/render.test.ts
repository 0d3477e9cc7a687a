import {
  approvalCard,
  COLOURED,
  dateTimeText,
  durationText,
  eventLine,
  isDetail,
  logLines,
  relativeText,
  shellWord,
  table,
  usdText,
} from '../../cli/render/index.js';
import type { RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';
import { explainRun } from '../../pure/explain.js';

describe('amounts', () => {
  it.each([
    [0, '$0.00'],
    [1, '$0.000001'],
    [12_300, '$0.0123'],
    [500_000, '$0.50'],
    [1_234_567_890, '$1,234.56789'],
    [-250_000, '-$0.25'],
  ])('%d micro-USD are %s', (micro, text) => {
    expect(usdText(micro)).toBe(text);
  });

  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1.0 s'],
    [59_999, '59.9 s'],
    [60_000, '1 min'],
    [250_000, '4 min 10 s'],
    [7_500_000, '2 h 5 min'],
    [274_000_000, '3 d 4 h'],
    [-5, '0 ms'],
  ])('%d ms are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it('say how far away a time is', () => {
    expect(relativeText(120_000, 60_000)).toBe('in 1 min');
    expect(relativeText(60_000, 120_000)).toBe('1 min ago');
    expect(dateTimeText(Date.UTC(2026, 10, 22, 12))).toMatch(
      /^2026-11-2\d \d\d:\d\d:\d\d [+-]\d\d:\d\d$/,
    );
  });
});

describe('an approval card', () => {
  const ask: AskView = {
    askId: 'shop:17:3',
    kind: 'approval',
    tool: 'payments.issue_refund',
    toolVersion: '2',
    args: { orderId: 'A-1', amountCents: 4200 },
    argsHash: '5d58cf88',
    roles: ['refund manager', 'owner'],
    quorum: 2,
    policyVersion: '0',
    requestedBy: 'bob',
    openedAt: 0,
    expiresAt: 86_400_000,
  };
  const card = approvalCard(ask, { runId: 'shop:17', now: 0 });

  it.each([
    'payments.issue_refund@2',
    '"amountCents": 4200',
    '2 different people: refund manager or owner',
    'bob, who asked for it',
    '(in 1 d)',
    '5d58cf88',
    'shop:17:3',
    "holdfast approve shop:17:3 --as NAME --role 'refund manager'",
  ])('says %s', (part) => {
    expect(card).toContain(part);
  });

  it('offers the answers of its kind', () => {
    const outcome = approvalCard({ ...ask, kind: 'outcome' }, { runId: 'r', now: 0 });
    expect(outcome).toContain('Did it happen?');
    expect(outcome).toContain('not_happened: the call is made again');
    expect(approvalCard({ ...ask, kind: 'input' }, { runId: 'r', now: 0 })).toContain("'TEXT'");
  });

  it('says money of a budget in dollars, and takes no argument of a tool for money', () => {
    const args = { budget: 'maxCostMicroUsd', limit: 12_500, used: 1_533, amount: 8_000 };
    const text = (of: object): string => approvalCard({ ...ask, ...of }, { runId: 'r', now: 0 });
    expect(text({ kind: 'budget', args })).toContain(
      '$0.008 more; the run has spent $0.001533 of $0.0125',
    );
    const inWords = 'The run needs more money: $0.001533 of $0.0125 used. Allow $0.008 more?';
    const named = text({ kind: 'budget', args, question: inWords });
    expect(named.match(/\$0\.008/g)).toHaveLength(1);
    const other = inWords.replace('$0.008', '$0.0081');
    expect(text({ kind: 'budget', args, question: other })).toContain('$0.008 more; the run');
    expect(text({ kind: 'budget', args: { ...args, budget: 'maxTurns' } })).not.toContain('$');
    const claimed = { slice: { maxCostMicroUsd: 5 }, ...args };
    expect(text({ args: claimed })).not.toContain('$');
  });

  it('shows what the server of a tool asks, and the answers that fit', () => {
    const input = { ...ask, kind: 'input' } as const;
    const from = { connector: 'crm', message: 'Who pays?' };
    const schema = {
      required: ['share'],
      properties: { share: { type: 'integer', maximum: 100 }, how: { enum: ['cash', 'card'] } },
    };
    const form = approvalCard(
      { ...input, elicitation: { ...from, mode: 'form', schema, problem: 'share is missing' } },
      { runId: 'r', now: 0 },
    );
    expect(form).toContain('share (integer, at most 100)');
    expect(form).toContain('how (one of cash, card, optional)');
    expect(form).toContain('share is missing');
    expect(form).toContain("'JSON'");
    const address = approvalCard(
      { ...input, elicitation: { ...from, mode: 'url', url: 'https://crm.example/\u001B[2J' } },
      { runId: 'r', now: 0 },
    );
    expect(address).toContain('which nothing here opens');
    expect(address).toContain('https://crm.example/');
    expect(address).not.toContain('\u001B');
    expect(address).toContain('shop:17:3 accept');
  });

  it('has colours only when asked', () => {
    expect(card).not.toContain('\u001B');
    expect(approvalCard(ask, { runId: 'r', now: 0, paint: COLOURED })).toContain('\u001B[');
  });
});

it('an event is one line with its number and what happened', () => {
  const stamp = {
    seq: 7,
    runId: 'r',
    traceId: 'r',
    at: 0,
    phase: 'dispatching_tools',
    step: 1,
    turn: 1,
  } as const;
  const line = eventLine({
    type: 'tool_started',
    callId: 'c',
    tool: 'pay',
    key: 'k',
    args: { a: 1 },
    stamp,
  });
  expect(line).toMatch(/^\d\d:\d\d:\d\d {4}7 tool {7}pay \{"a":1\}$/);
});

it('what was done to find out is one line, with texts from outside made harmless', () => {
  const stamp = { seq: 8, runId: 'r', traceId: 'r', at: 0, phase: 'dispatching_tools' } as const;
  const line = eventLine({
    type: 'tool_reconciled',
    callId: 'c',
    tool: 'pay',
    key: 'k',
    attempt: 1,
    finding: 'unknown',
    steps: [
      { step: 'attempt_lost', attempt: 1, claimed: true, durationMs: 2_000 },
      { step: 'probe_told', answer: 'unknown', message: 'down\u001B[2J', durationMs: 5 },
    ],
    stamp: { ...stamp, step: 1, turn: 1 },
  });
  expect(line).toMatch(
    / 8 reconcile +pay: nobody heard how attempt 1 ended \(2\.0 s\); the probe could not tell: “down.*” \(5 ms\)$/,
  );
  expect(line).not.toContain('\u001B');
});

it('a word for the shell is quoted when it must be', () => {
  expect(shellWord('run_01J:3')).toBe('run_01J:3');
  expect(shellWord("it's $HOME")).toBe("'it'\\''s $HOME'");
});

it('a table is as wide as its cells', () => {
  expect(
    table({
      head: ['run', 'status'],
      rows: [
        ['r1', 'ok'],
        ['run-22', 'failed'],
      ],
    }),
  ).toBe('run     status\nr1      ok\nrun-22  failed');
});

it('an event of a later release is a line that names it, and explains nothing', () => {
  const stamp = { seq: 3, runId: 'r', traceId: 'r', at: 0, phase: 'validating', step: 0, turn: 0 };
  const event = { type: 'gravestone\u001B[2J', stamp } as unknown as RunEvent;
  expect(eventLine(event)).toMatch(/ 3 event +gravestone/);
  expect(eventLine(event)).not.toContain('\u001B');
  expect(explainRun([event])).toEqual([]);
});

describe('the headline of a card at the terminal', () => {
  const ask: AskView = {
    askId: 'shop:17:3',
    kind: 'approval',
    tool: 'payments.issue_refund',
    toolVersion: '2',
    args: { note: 'n', fee_amount: 5, orderId: 'A-1', amountCents: 125_000 },
    argsHash: '5d58cf88',
    roles: [],
    quorum: 1,
    policyVersion: '0',
    openedAt: 0,
    expiresAt: 86_400_000,
    limits: {
      amount: 125_000,
      limits: [{ scope: 'perDay', amount: 300_000, used: { amount: 50_000, count: 1 } }],
    },
    repeats: {
      identity: ['A-1'],
      earlier: [
        {
          key: 'k',
          runId: 'r',
          tool: 't',
          at: 0,
          state: 'done',
          amount: 50_000,
          approvedBy: ['mia'],
        },
      ],
    },
  };
  const card = {
    amount: { path: 'amountCents', unit: 'minor', currency: 'EUR' },
    recipient: 'orderId',
    labels: { orderId: 'Order' },
  } as const;
  const shown = (more: Partial<AskView>) =>
    approvalCard({ ...ask, ...more }, { runId: 'shop:17', now: 0 });

  it('says of each earlier call how it stands, and on whose word', () => {
    const one = { key: 'k', runId: 'r', tool: 't', at: 0, approvedBy: [] };
    const text = shown({
      repeats: {
        identity: ['A-1'],
        earlier: [
          { ...one, state: 'under_way', approvedBy: ['mia', 'tom'] },
          { ...one, key: 'k2', runId: 'r2', state: 'in_doubt' },
        ],
        more: true,
      },
    });
    expect(text).toMatch(/: under way, by r, on the word of mia, tom\n/);
    expect(text).toMatch(/: in doubt, by r2\n│ +and more/);
  });

  it('is what the tool declares, and limits are in its unit', () => {
    const text = shown({ card });
    expect(text).toContain('amountCents 1,250.00 EUR (exactly 125000)');
    expect(text).toContain('Order     A-1');
    expect(text).toContain('500.00 EUR of 3,000.00 EUR used today; this takes 1,250.00 EUR');
    expect(text).toContain('done, amount 500.00 EUR, by r');
  });

  it('is what the limits know where the tool declares nothing, in no unit', () => {
    const text = shown({});
    expect(text).toContain('amount, as its limits count 125,000');
    expect(text).toContain('50,000 of 300,000 used today; this takes 125,000');
    const { limits: _, ...bare } = ask;
    expect(approvalCard(bare, { runId: 'shop:17', now: 0 })).not.toContain('125,000');
  });

  it('stands above the arguments, amounts first, the largest first', () => {
    expect(shown({ card })).toMatch(/"amountCents"[^]*"fee_amount"[^]*"note"[^]*"orderId"/);
  });
});

test('what a tool cost, or that a handoff is made, is in its line', () => {
  const event = (facts: object): RunEvent =>
    ({
      v: 1,
      type: 'tool_finished',
      callId: 'c1',
      tool: 'search.web',
      status: 'ok',
      content: { text: 'found' },
      started: true,
      durationMs: 900,
      attempts: 1,
      stamp: { seq: 1, at: 0 },
      ...facts,
    }) as unknown as RunEvent;
  const paid = event({ costMicroUsd: 12_300 });
  expect(eventLine(paid)).toContain(', 900 ms, $0.0123');
  expect(explainRun([paid])[0]!.words).toBe('search.web succeeded and cost $0.0123');
  const lost = event({ costMicroUsd: 2_000_000, status: 'error', code: 'timeout' });
  expect(explainRun([lost])[0]!.words).toContain('search.web failed and cost $2.00: timeout');
  expect(eventLine(event({}))).not.toContain('$');
  const handed = { tool: 'handoff', status: 'skipped', started: false, durationMs: 0 };
  expect(eventLine(event(handed))).toMatch(/handoff done .*found/);
  expect(eventLine(event(handed))).not.toMatch(/skipped|not started/);
  const refused = event({ ...handed, status: 'error', code: 'permission_denied' });
  expect(eventLine(refused)).toMatch(/handoff error permission_denied/);
});

describe('a question of a goal', () => {
  const ASK: AskView = {
    askId: 'march:g1',
    kind: 'approval',
    question: 'Start cycle 1 of the goal?',
    args: { goal: 'march', n: 1, slice: { maxCostMicroUsd: 200_000 } },
    argsHash: 'h',
    roles: ['finance'],
    quorum: 1,
    policyVersion: '1',
    openedAt: 0,
    expiresAt: 60_000,
  };
  const card = (more: Partial<AskView> = {}) =>
    approvalCard({ ...ASK, ...more }, { runId: 'march', now: 0 });

  it('says who may not decide, and why', () => {
    const text = card({ requestedBy: 'mia', steeredBy: ['rita'] });
    expect(text).toContain('not by    mia, who started the goal');
    expect(text).toContain('not by    rita, who said something to the goal since its last cycle');
  });

  it('says that no starter is named, where whoever started it may decide', () => {
    expect(card()).toContain('no starter is named');
  });

  it('says money in dollars', () => {
    expect(card()).toContain('money     at most $0.20');
    const budget = {
      kind: 'budget',
      args: { field: 'maxCostMicroUsd', amount: 1_500_000 },
    } as const;
    expect(card(budget)).toContain('money     $1.50 more');
  });

  it('is told by its words alone, without the JSON', () => {
    const stamp = { seq: 3, runId: 'march', at: 0 } as RunEvent['stamp'];
    const line = eventLine({ type: 'approval_requested', ...ASK, stamp } as RunEvent);
    expect(line).toContain('wanted for Start cycle 1 of the goal?');
    expect(line).not.toContain('maxCostMicroUsd');
  });
});

test('the lines of a goal tell its progress once', () => {
  const stamp = { seq: 3, runId: 'march', at: 0 } as RunEvent['stamp'];
  const noted = { type: 'progress_noted', n: 1, progress: [], stamp } as unknown as RunEvent;
  expect(isDetail(noted)).toBe(true);
  const began = { type: 'goal_started', agent: 'a', caller: 'mia', objective: { text: 'All.' } };
  expect(eventLine({ ...began, stamp } as unknown as RunEvent)).toContain('started by mia: All.');
});

test('the log of a goal tells when, in which cycle, what it cost, and on what evidence', () => {
  const child = { n: 1, runId: 'g:c1', agent: 'a', stopReason: 'completed', costMicroUsd: 6_500 };
  const [text = ''] = logLines(
    [
      { at: 0, cycle: 1, kind: 'cycle', text: 'Cycle 1 of a ended: completed.' },
      { at: 1, cycle: 1, kind: 'progress', text: 'Progress: one.', evidence: ['check/late/2'] },
    ],
    [child],
  );
  const lines = text.split('\n');
  expect(lines[0]).toMatch(/^when +cycle +kind +cost +evidence +what$/);
  expect(lines[1]).toMatch(/1 +cycle +\$0\.0065 +Cycle 1/);
  expect(lines[2]).toMatch(/1 +progress +check\/late\/2 +Progress: one\.$/);
});
