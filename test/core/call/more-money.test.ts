/** A sub-agent that has used up its money: what the run above does, and what the sub-agent itself does. */
import { committedMicroUsd } from '../../../core/money/budget.js';
import { dollars } from '../../../core/money/dollars.js';
import { questionFor } from '../../../core/money/exceed.js';
import { heard } from '../../../core/loop/signals.js';
import { isOpen } from '../../../core/state/run.js';
import { CHANGES } from '../../../core/step/changes.js';
import { call, calls, says, tool, type Script } from '../script.js';
import { askOf, createShell, finish, post, send, START, tick, type Shell } from '../shell.js';

const CHILD = 'run_1:a1';
const LIMITS = { depth: 2, atOnce: 4, inAll: 50 };
const PARENT = { kind: 'run', id: 'root', n: 1, digest: 'd', asks: true } as const;
const LINEAGE = { root: 'root', path: ['desk', 'auditor'], call: 'c', limits: LIMITS } as const;
const BELOW: Partial<Script> = { parent: PARENT, lineage: LINEAGE };

/** A run with one open sub-agent, which has a slice of 10,000 micro-USD. */
function above(more: Partial<Script> = {}, limit = 100_000): Shell {
  const shell = createShell({
    tools: [tool('x_agent', { kind: 'subagent', effect: 'none', concurrencySafe: true })],
    agents: { r: { agent: 'case/r', version: '1', budget: { maxCostMicroUsd: 10_000 } } },
    model: [calls(call('a', 'x_agent', { name: 'r', prompt: 'Look.' })), says('done')],
    budget: { maxCostMicroUsd: limit },
    children: [{ ms: Infinity, returns: null }],
    ...more,
  });
  while (shell.run.children?.[0]?.stage !== 'open') tick(shell);
  return shell;
}

const wants = (n: number, amount: number) =>
  ({ type: 'money_wanted', child: CHILD, n, amount }) as const;

const answers = (shell: Shell) =>
  shell.effects.flatMap((effect) =>
    effect.kind === 'tell_child' && effect.message === 'money' ? [[effect.n, effect.amount]] : [],
  );

const limitOf = ({ run }: Shell) => (isOpen(run) ? run.frozen.budget.maxCostMicroUsd : undefined);
const committed = ({ run }: Shell) => (isOpen(run) ? committedMicroUsd(run) : Number.NaN);

test('What a run has left is reserved for its sub-agent before it is told, once for each question, and told again to one that was reset.', () => {
  const shell = above();
  send(shell, wants(1, 20_000));
  send(shell, wants(1, 20_000));
  expect(answers(shell)).toEqual([
    [1, 20_000],
    [1, 20_000],
  ]);
  expect(shell.run.money.reserved[CHILD]).toBe(30_000);
  expect(limitOf(shell)).toBe(100_000);
});

test('A question that the sub-agent has given up is answered under the number of its next one; a number beyond all is nothing.', () => {
  const shell = above({ settings: { onBudget: 'ask' } });
  send(shell, wants(Number.MAX_SAFE_INTEGER, 1));
  send(shell, wants(1, 99_000));
  send(shell, wants(2, 99_000));
  const [ask] = shell.run.asks;
  const decision = { v: 1, askId: ask!.id, argsHash: ask!.digest, by: 'maria', roles: [] } as const;
  send(shell, {
    type: 'decision',
    decision: { ...decision, decision: 'approve', decidedAt: shell.now },
  });
  expect(answers(shell)).toEqual([[2, 99_000]]);
});

test('A run that stops gives nothing more.', () => {
  const shell = above();
  send(shell, { type: 'interrupt' });
  send(shell, wants(1, 20_000));
  expect(answers(shell)).toEqual([[1, 0]]);
  expect(shell.run.money.reserved[CHILD]).toBe(10_000);
});

test('A sub-agent without a slice of its own is not told that it may ask, because nothing of it can be raised.', () => {
  const agents = { r: { agent: 'case/r', version: '1' } };
  const started = ({ effects }: Shell) =>
    effects.flatMap((effect) => (effect.kind === 'start_child' ? [effect.input.parent] : []));
  const sliced = above({ settings: { onBudget: 'ask' } });
  expect(started(sliced)).toMatchObject([{ asks: true }]);
  const free = above({
    settings: { onBudget: 'ask' },
    agents,
    budget: { maxCostMicroUsd: 'unlimited' },
  });
  expect(started(free)[0]).not.toHaveProperty('asks');
});

test('A root that has not enough and asks nobody gives nothing.', () => {
  const shell = above();
  send(shell, wants(1, 99_000));
  expect(answers(shell)).toEqual([[1, 0]]);
  expect(shell.run.asks).toEqual([]);
});

test('A root asks a person, whose amount raises its own budget and the slice.', () => {
  const shell = above({ settings: { onBudget: 'ask' } });
  send(shell, wants(1, 99_000));
  const [ask] = shell.run.asks;
  expect(ask).toMatchObject({
    kind: 'budget',
    child: CHILD,
    args: { child: CHILD, amount: 99_000 },
  });
  expect(answers(shell)).toEqual([]);
  const decision = { v: 1, askId: ask!.id, argsHash: ask!.digest, by: 'maria', roles: [] } as const;
  const yes = { ...decision, decision: 'approve', amount: 50_000, decidedAt: shell.now } as const;
  send(shell, { type: 'decision', decision: yes });
  expect(answers(shell)).toEqual([[1, 50_000]]);
  expect(limitOf(shell)).toBe(150_000);
  expect(shell.run.money.reserved[CHILD]).toBe(60_000);
  expect(committed(shell)).toBeLessThanOrEqual(150_000);
});

test('A run that got its task by a handoff is a root: it asks a person, not the run that handed over.', () => {
  const parent = { kind: 'handoff', id: 'before', n: 1, digest: 'd' } as const;
  const shell = above({ parent, settings: { onBudget: 'ask' } });
  send(shell, wants(1, 99_000));
  expect(answers(shell)).toEqual([]);
  expect(shell.run.asks).toMatchObject([{ kind: 'budget', child: CHILD }]);
});

test('A sub-agent whose bill was above its bound asks nobody above: no run lifts that.', () => {
  const { run } = above(BELOW);
  if (!isOpen(run)) throw new Error('it is open');
  expect(questionFor(run, 'max_cost')).toBeDefined();
  const overrun = { ...run, money: { ...run.money, overrun: true } };
  expect(questionFor(overrun, 'max_cost')).toBeUndefined();
});

test('A person is asked in dollars for what a sub-agent wants.', () => {
  const shell = above({ settings: { onBudget: 'ask' } });
  send(shell, wants(1, 99_000));
  const { question, args } = askOf(shell);
  const { used } = args as { readonly used: number };
  expect(question).toBe(
    `The sub-agent case › r needs more money: its $0.01 are used up, and ${dollars(used)} of $0.10 of the run are spent. Allow $0.099 more?`,
  );
});

test('A question for a sub-agent that has ended is withdrawn.', () => {
  const shell = above({ settings: { onBudget: 'ask' } });
  send(shell, wants(1, 99_000));
  post(shell, { type: 'child_ended', child: CHILD });
  expect(finish(shell).stopReason).toBe('completed');
  expect(shell.events.some(({ type }) => type === 'approval_withdrawn')).toBe(true);
});

test('A run in the middle asks above itself, and hands on what it gets.', () => {
  const shell = above(BELOW);
  send(shell, wants(1, 99_000));
  const asked = shell.effects.filter(({ kind }) => kind === 'tell_parent');
  expect(asked).toEqual([
    { kind: 'tell_parent', parent: 'root', child: 'run_1', n: 1, amount: 99_000 },
  ]);
  send(shell, { type: 'money_answered', child: 'run_1', n: 1, amount: 99_000 });
  expect(answers(shell)).toEqual([[1, 99_000]]);
  expect(limitOf(shell)).toBe(199_000);
  expect(shell.run.money.reserved[CHILD]).toBe(109_000);
});

test.each([
  ['a no', 0, 'max_cost'],
  ['more', 400_000, 'completed'],
] as const)(
  'A sub-agent that is used up asks above, and ends by %s as it should.',
  (_, amount, reason) => {
    const shell = createShell({ ...BELOW, budget: { maxCostMicroUsd: 10 }, model: [says('done')] });
    while (shell.run.moneyAsked === undefined) tick(shell);
    expect(shell.run.asks).toEqual([]);
    send(shell, { type: 'money_answered', child: 'run_1', n: 1, amount });
    expect(finish(shell).stopReason).toBe(reason);
  },
);

test('A sub-agent that nobody answers stops for its budget, after the time of a question and a minute.', () => {
  const settings = { inputTimeoutMs: 5_000 };
  const shell = createShell({ ...BELOW, settings, budget: { maxCostMicroUsd: 10 }, model: [] });
  expect(finish(shell).stopReason).toBe('max_cost');
  expect(shell.run.now).toBeGreaterThanOrEqual(START + 65_000);
});

test.each([
  ['that must prove decisions', { settings: { requireProof: true } }],
  ['under older rules', { rules: CHANGES.moneyAbove.since - 1 }],
  ['that has used up its turns', { budget: { maxTurns: 0 } }],
] as const)('A sub-agent %s asks nobody.', (_, more) => {
  const budget = { maxCostMicroUsd: 10 };
  const shell = createShell({ ...BELOW, budget, model: [], ...more });
  expect(finish(shell).completed).toBe(false);
  expect(shell.effects.filter(({ kind }) => kind === 'tell_parent')).toEqual([]);
});

test.each([
  [{ child: CHILD, n: 1, amount: -5 }],
  [{ child: CHILD, n: 0, amount: 5 }],
  [{ child: CHILD, n: 1, amount: 1.5 }],
  [{ n: 1, amount: 5 }],
  ['all of it'],
] as const)('The word %j of a sub-agent is refused.', (raw) => {
  const { run } = above();
  expect(heard(run, { name: 'wantsMoney', raw, at: START })).toMatchObject({
    type: 'input_rejected',
  });
});
