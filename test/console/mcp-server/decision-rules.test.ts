/** What an agent may decide on: by tool, amount and budget of the configuration, and nothing without its word. */
import { parseConsole } from '../../../authoring/index.js';
import { objectionTo, type ShownAsk } from '../../../console/mcp-server/decision-rules.js';

const rules = parseConsole({
  mcpServer: {
    decisions: { tools: { refund: { maxAmount: 5_000 }, note: {} }, maxBudgetUsd: 2 },
  },
}).mcpServer.decisions;

const CARD = { amount: { path: 'amount', unit: 'minor', currency: 'EUR' } } as const;
const MAJOR = { amount: { path: 'amount', unit: 'major', currency: 'currency' } } as const;

function ask(over: Partial<ShownAsk>): ShownAsk {
  return {
    askId: 'a',
    runId: 'r',
    kind: 'approval',
    outcome: 'pending',
    tool: 'refund',
    argsHash: '0'.repeat(64),
    requestedBy: 'service:other',
    ...over,
  };
}

const counted = (amount: number) => ({
  amount,
  limits: [{ scope: 'customer', amount: 10_000, used: { amount: 0, count: 0 } }] as never,
});

test.each<[string, Partial<ShownAsk>, string | undefined]>([
  ['an amount at the limit', { card: CARD, args: { amount: 5_000 } }, undefined],
  ['an amount above it', { card: CARD, args: { amount: 5_001 } }, 'amount_not_allowed'],
  ['a text that is a number', { card: CARD, args: { amount: '4999' } }, undefined],
  ['a text that is none', { card: CARD, args: { amount: '4,999' } }, 'amount_not_allowed'],
  ['no amount where one is declared', { card: CARD, args: {} }, 'amount_not_allowed'],
  ['arguments that are elsewhere', { card: CARD, args: { $blob: 'x' } }, 'amount_not_allowed'],
  ['a negative amount', { card: CARD, args: { amount: -1 } }, 'amount_not_allowed'],
  ['euros', { card: MAJOR, args: { amount: 50, currency: 'eur' } }, undefined],
  [
    'too many euros',
    { card: MAJOR, args: { amount: 50.01, currency: 'EUR' } },
    'amount_not_allowed',
  ],
  [
    'yen, which have no cents',
    { card: MAJOR, args: { amount: 5_000, currency: 'JPY' } },
    undefined,
  ],
  [
    'a currency of nowhere',
    { card: MAJOR, args: { amount: 1, currency: 'ZZZ' } },
    'amount_not_allowed',
  ],
  ['an amount that limits count', { limits: counted(5_001) }, 'amount_not_allowed'],
  [
    'a small card beside large limits',
    { card: CARD, args: { amount: 1 }, limits: counted(5_001) },
    'amount_not_allowed',
  ],
  ['a limited tool that declares no amount', { args: { amount: 1 } }, 'amount_unknown'],
  ['a tool without amounts', { tool: 'note', args: {} }, undefined],
  [
    'an amount of a tool without limit',
    { tool: 'note', card: CARD, args: { amount: 1 } },
    'amount_not_allowed',
  ],
  ['a tool that is not named', { tool: 'wipe' }, 'tool_not_allowed'],
  ['a name of every object', { tool: 'constructor' }, 'tool_not_allowed'],
  ['an unknown outcome', { kind: 'outcome' }, 'not_for_agents'],
  ['a question of a goal', { tool: undefined as never }, 'not_for_agents'],
  ['a run of nobody', { requestedBy: undefined as never }, 'requester_unknown'],
  ['a raise within', { kind: 'budget', args: raise(1_500_000, 500_000) }, undefined],
  ['a raise beyond', { kind: 'budget', args: raise(1_500_001, 500_000) }, 'amount_not_allowed'],
  ['a raise of turns', { kind: 'budget', args: raise(1, 1, 'maxTurns') }, 'budget_not_allowed'],
  ['a raise in words', { kind: 'budget', args: raise('1' as never, 1) }, 'amount_not_allowed'],
])('approving %s', (_, over, code) => {
  expect(objectionTo(rules, ask(over), 'approve')?.code).toBe(code);
});

function raise(limit: number, amount: number, budget = 'maxCostMicroUsd') {
  return { budget, limit, used: limit, amount };
}

test('a call of a named tool may be rejected whatever its amount', () => {
  const large = ask({ card: CARD, args: { amount: 1_000_000 } });
  expect(objectionTo(rules, large, 'reject')).toBeUndefined();
  expect(objectionTo(rules, ask({ tool: 'wipe' }), 'reject')?.code).toBe('tool_not_allowed');
});

test('without a word of the configuration nothing is decided', () => {
  const none = parseConsole({}).mcpServer.decisions;
  expect(objectionTo(none, ask({ tool: 'note' }), 'approve')?.code).toBe('not_configured');
  const empty = parseConsole({ mcpServer: { decisions: {} } }).mcpServer.decisions;
  expect(objectionTo(empty, ask({ kind: 'budget' }), 'approve')?.code).toBe('budget_not_allowed');
});
