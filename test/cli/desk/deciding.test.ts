/** What a person says on the command line, held against the question. */
import { HoldfastError } from '../../../core/state/errors.js';
import { decidingAtDesk, decidingDirectly } from '../../../cli/desk/deciding.js';
import { askPersonHere } from '../../../cli/chat/ask-person.js';
import type { LineSource } from '../../../cli/chat/line-source.js';
import { approval } from '../../../cli/commands/decide.js';
import { allowedText, amountIn } from '../../../cli/desk/more-budget.js';
import { deliveryLines } from '../../../cli/render/index.js';
import { createOutput } from '../../../cli/terminal/output.js';

const QUESTION = { askId: 'run:3', runId: 'run', quorum: 1 } as const;

describe('an amount goes to a question about a budget', () => {
  const amountOf = (budget: string | undefined, text: string) => {
    const args = budget === undefined ? undefined : { budget, amount: 6_000 };
    const question = { ...QUESTION, kind: 'budget', ...(args && { args }) } as const;
    return approval(question, { amount: amountIn(text) });
  };

  test.each([
    ['timeoutMs', '6s', 6_000],
    ['timeoutMs', '5min', 300_000],
    ['timeoutMs', '2h', 7_200_000],
    ['timeoutMs', '1.5 s', 1_500],
    ['timeoutMs', '6', 6],
    ['maxCostMicroUsd', '$0.50', 500_000],
    ['maxCostMicroUsd', '0.50usd', 500_000],
    ['maxCostMicroUsd', '0.29 USD', 290_000],
    ['maxCostMicroUsd', '$1.000001', 1_000_001],
    ['maxCostMicroUsd', '9007199254.740991usd', Number.MAX_SAFE_INTEGER],
    ['maxCostMicroUsd', '250000', 250_000],
    ['maxTurns', '5', 5],
    [undefined, '5', 5],
  ])('%s: %s is %d', (budget, text, amount) => {
    expect(amountOf(budget, text)).toEqual({ decision: 'approve', amount });
  });

  test.each([
    ['timeoutMs', '$0.50', 'asks for more time, and $0.50 is money', 'Give 6s, 5min or 2h'],
    ['maxCostMicroUsd', '6s', 'asks for more money, and 6s is time', 'Give 0.50usd'],
    ['maxTurns', '6s', 'asks for more turns, and 6s is time', 'Give a whole number'],
    ['maxCycles', '$1', 'asks for more cycles, and $1 is money', 'Give a whole number'],
    ['maxCostMicroUsd', '0.50', '0.50 has no unit', 'Give 0.50usd'],
    ['maxCostMicroUsd', '$0.0000005', 'no whole number of micro-USD', 'one micro-USD'],
    ['timeoutMs', '0.1ms', 'no whole number of milliseconds', 'one millisecond'],
    ['maxTurns', '1.5', 'no whole number', 'give a whole number'],
    ['timeoutMs', '0s', 'must be from 1 to', 'give another amount'],
    ['maxCostMicroUsd', '9007199254.740992usd', 'must be from 1 to', 'give another amount'],
    // A shell makes `2` of `$12`.
    ['maxCostMicroUsd', '2', '2 would be $0.000002, and the question asks for $0.006', 'give 2usd'],
    [undefined, '6s', 'does not say which budget', 'in the own unit of the budget'],
  ])('%s: %s is refused, with what to give instead', (budget, text, message, hint) => {
    let refused: unknown;
    try {
      amountOf(budget, text);
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({
      code: 'Usage',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });

  test.each(['', 'six', '-1', '6 weeks', '$6s', '1e3', '0x10', '$'])(
    '"%s" is no amount of anything',
    (text) => {
      expect(() => amountIn(text)).toThrow(`--amount must be an amount, not "${text}".`);
    },
  );
});

describe('of an amount it is said what counts, or that it was sent', () => {
  test.each([
    [{ budget: 'timeoutMs', amount: 6_000 }, 6_000, '6 s more of time'],
    [{ budget: 'maxCostMicroUsd' }, 500_000, '$0.50 more of money'],
    [{ budget: 'maxModelCalls' }, 5, '5 more model calls'],
    [{ field: 'maxCycles' }, 2, '2 more cycles'],
  ])('%j, %d: %s', (args, amount, text) => {
    expect(allowedText(args, amount)).toBe(text);
    const decided = { askId: 'run:budget:1', runId: 'run', verb: 'approved', allowed: text };
    const verdict = { accepted: true, outcome: 'approved' } as const;
    const delivery = { delivered: 'update', verdict } as const;
    const [line] = deliveryLines({ ...decided, delivery });
    expect(line).toContain(`run:budget:1: approved: ${text}.`);
    // An earlier amount may count under the same name, and a hard limit cuts what a goal is given.
    for (const unsure of [{ isNamed: true }, { askId: 'run:g1' }]) {
      const [said] = deliveryLines({ ...decided, ...unsure, delivery });
      expect(said).toContain(`: approved (sent: ${text}).`);
    }
    const [sent] = deliveryLines({ ...decided, delivery: { delivered: 'signal' } });
    expect(sent).toContain(`sent: ${text}.`);
  });
});

test('a prompt takes an amount with its unit, says what is allowed, and asks again for another unit', async () => {
  const typed = ['y $1', 'y 6s'];
  const told: string[] = [];
  const { onQuestion } = askPersonHere({
    lines: { ask: async () => typed.shift() } as unknown as LineSource,
    output: createOutput(
      { out: (text) => void told.push(text), err: () => undefined },
      { json: false, colour: false },
    ),
  });
  const ask = {
    kind: 'budget',
    askId: 'run:budget:1',
    argsHash: 'h',
    roles: [],
    quorum: 1,
    policyVersion: '1',
    openedAt: 0,
    expiresAt: 1,
    args: { budget: 'timeoutMs', limit: 6_000, used: 6_000, amount: 6_000 },
  } as const;
  const context = { runId: 'run', signal: new AbortController().signal };
  expect(await onQuestion(ask, context)).toEqual({ kind: 'approve', amount: 6_000 });
  expect(told.join('')).toContain('The question asks for more time, and $1 is money.');
  expect(told.join('')).toContain('You allow 6 s more of time.');
});

test('an amount for another question is refused with what the question is', () => {
  const question = { ...QUESTION, kind: 'approval', tool: 'payments.refund' } as const;
  expect(approval(question, {})).toEqual({ decision: 'approve' });
  expect(() => approval(question, { amount: amountIn('5') })).toThrow(
    '--amount goes with a budget: run:3 is a question of the kind approval.',
  );
});

describe('a run in the place of its question', () => {
  const directly = (asks: readonly object[]) => {
    const findAsk = async (): Promise<never> => {
      throw new HoldfastError('AskNotFound', 'There is no question run.', { hint: 'List them.' });
    };
    const client = { findAsk, handle: () => ({ state: async () => ({ asks }) }) };
    const wholeStore = async (): Promise<never> => Promise.reject(new Error('none'));
    return decidingDirectly({ wholeStore }, client as never, { by: 'mia' } as never);
  };

  const atDesk = (pending: readonly object[]) =>
    decidingAtDesk({
      async get(path) {
        if (path === '/v1/runs/run') return { pending };
        throw new HoldfastError('AskNotFound', 'There is nothing here for you.');
      },
      post: () => Promise.reject(new Error('none')),
    });

  test.each([
    ['without a desk', directly],
    ['over a desk', atDesk],
  ])('is refused with the questions that are open, %s', async (_where, deciding) => {
    const asks = [
      { askId: 'run:1', kind: 'approval' },
      { askId: 'run:message:2', kind: 'user_message' },
      { askId: 'run:budget:1', kind: 'budget' },
    ];
    await expect(deciding(asks).find('run')).rejects.toMatchObject({
      code: 'AskNotFound',
      message: 'There is no question run.',
      hint: 'The run run asks run:1, run:budget:1: name one of them.',
    });
  });

  test('is an unknown question where none is open', async () => {
    await expect(directly([]).find('run')).rejects.toThrow('There is no question run.');
    await expect(atDesk([]).find('run')).rejects.toThrow('There is nothing here for you.');
  });
});
