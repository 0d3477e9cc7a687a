/** Matchers for jest and vitest, and assertions for any runner: one judgement behind both. */
import { z } from 'zod';
import { defineAgent, defineHostedTool, defineTool } from '../../../index.js';
import {
  agentMatchers,
  assertAsked,
  assertCalled,
  assertCost,
  assertNotAsked,
  assertNotCalled,
  assertStopped,
  calls,
  testAgent,
  type TestedRun,
} from '../../../testing/index.js';

expect.extend(agentMatchers);

const pay = defineTool({
  name: 'pay',
  version: '1',
  effect: 'financial',
  approval: { roles: ['lead'] },
  input: z.object({ amount: z.number(), to: z.string() }),
  run: () => undefined,
});
const PAYER = {
  name: 'payer',
  model: 'anthropic/claude-sonnet-5-5',
  instructions: 'Pay.',
} as const;
const agent = defineAgent({ ...PAYER, tools: [pay] });

let run: TestedRun;
let denied: TestedRun;
beforeAll(async () => {
  const model = [calls('pay', { amount: 30, to: 'A-1' }), 'Paid.'];
  const tools = { pay: () => 'ok' };
  run = await testAgent(agent, { goal: 'Pay.', model, tools, approvals: () => 'approve' });
  denied = await testAgent(agent, { goal: 'Pay.', model, tools, approvals: () => 'reject' });
});

test('the matchers say what a run did', () => {
  expect(run).toHaveCalled('pay');
  expect(run).toHaveCalled('pay', { amount: 30 }, { times: 1, outcome: 'ok', agent: 'payer' });
  expect(run).toHaveCalled('pay', { to: expect.any(String), amount: (n: number) => n > 29 });
  expect(run).not.toHaveCalled('pay', { amount: 31 });
  expect(run).not.toHaveCalled('pay', undefined, { times: 2 });
  expect(run).toHaveAsked('pay');
  expect(run).toHaveAsked({
    kind: 'approval',
    outcome: 'approved',
    roles: ['lead'],
    args: { to: /^A/ },
  });
  expect(run).not.toHaveAsked({ roles: ['lead', 'board'] });
  expect(run).toHaveCost({ max: 100_000 });
  expect(run).toHaveCost(run.costMicroUsd);
  expect(run).not.toHaveCost({ min: 100_000 });
  expect(run).toHaveStopped('completed');
  expect(run).not.toHaveStopped('completed', 'other');
});

test('a call that was refused was not called, and its outcome can be asked for', () => {
  expect(denied).not.toHaveCalled('pay');
  expect(denied).toHaveCalled('pay', { amount: 30 }, { outcome: 'approval_rejected' });
});

test('what a failing matcher says names what was wanted and what is there', () => {
  expect(() => expect(denied).toHaveCalled('pay', { amount: 1 })).toThrow(
    /should have called pay with \{"amount":1\}.*pay \{"amount":30,"to":"A-1"\}: approval_rejected, the tool was not called/s,
  );
  expect(() => expect(run).not.toHaveAsked()).toThrow(
    /should not have asked a person.*of lead about pay.*approved/s,
  );
  expect(() => expect(run).toHaveStopped('refused')).toThrow(
    /stopped with refused.*Stop reason: completed.*Answer: Paid/s,
  );
  expect(() => expect(run).toHaveCost(1)).toThrow(/have cost 1 micro-USD.*Cost: \d+ micro-USD/s);
});

test('a matcher of something else says what it is about', () => {
  expect(() => expect({}).toHaveCalled('pay')).toThrow(
    'An expectation is about a run of testAgent.',
  );
});

test('the assertions judge the same', () => {
  assertCalled(run, 'pay');
  assertCalled(run, { tool: 'pay', args: { amount: 30 }, times: 1 });
  assertNotCalled(denied, 'pay');
  assertAsked(run, { outcome: 'approved' });
  assertNotAsked(run, { kind: 'budget' });
  assertCost(run, { max: 100_000 });
  assertStopped(run, 'completed');
  expect(() => assertCalled(denied, 'pay')).toThrow(
    expect.objectContaining({
      name: 'AssertionError',
      message: expect.stringContaining('should have called pay'),
    }),
  );
  expect(() => assertNotCalled(run, 'pay')).toThrow('should not have called pay');
  expect(() => assertNotAsked(run)).toThrow('should not have asked');
  expect(() => assertStopped(run, 'max_cost')).toThrow('stopped with max_cost');
});

test('what was expected is shown as it was written: expressions, predicates, matchers of the runner', () => {
  const args = { to: /^B/, amount: (n: number) => n > 31, why: expect.any(String) as unknown };
  expect(() => expect(run).toHaveCalled('pay', args)).toThrow(
    /with \{"to":"\/\^B\/","amount":"\(n\) ?=> ?n > 31","why":"Any<String>"\}/,
  );
});

test('an expectation with a word that there is not is refused, and not met by every run', () => {
  const call = { tool: 'pay', arg: { amount: 31 } } as { tool: string };
  expect(() => assertCalled(run, call)).toThrow('An expected call has no field "arg".');
  expect(() => assertAsked(run, { tol: 'x' } as object)).toThrow('An expected question has');
  expect(() => assertCost(run, { maximum: 1 } as object)).toThrow('An expected cost has');
});

test.each<[string, (of: TestedRun) => void]>([
  ['assertCalled', (of) => assertCalled(of, 'pya')],
  ['assertNotCalled', (of) => assertNotCalled(of, 'pya')],
  ['assertNotAsked', (of) => assertNotAsked(of, 'pya')],
  ['not.toHaveCalled', (of) => expect(of).not.toHaveCalled('pya')],
  ['not.toHaveAsked', (of) => expect(of).not.toHaveAsked({ tool: 'pya' })],
])('%s of a tool that nobody has is refused with the tools that there are', (_, attempt) => {
  expect(() => attempt(run)).toThrow(
    expect.objectContaining({
      code: 'InvalidFixture',
      message: 'The run has no tool "pya".',
      hint: 'Did you mean pay? The tools are pay.',
    }) as Error,
  );
});

test('an agent that is not in the run is refused as well', () => {
  const call = { tool: 'pay', agent: 'payr' };
  expect(() => assertNotCalled(run, call)).toThrow('The run has no agent "payr".');
});

test('a tool of a sub-agent, of a vendor, of a server and one that the model made up can be asserted', async () => {
  const search = defineHostedTool({
    name: 'web_search',
    version: '1',
    effect: 'read',
    provider: 'anthropic',
    declaration: { type: 'web_search_20250305', name: 'web_search' },
    bound: { inputTokens: 1_000, uses: 1, feeMicroUsd: 10_000 },
  });
  const auditor = defineAgent({ ...PAYER, name: 'audits', tools: [pay] });
  const desk = defineAgent({
    ...PAYER,
    name: 'desk',
    tools: [search],
    agents: { auditor: { description: 'Audits.', agent: auditor } },
  });
  const told = await testAgent(desk, { goal: 'Pay.', model: [calls('made_up'), 'Paid.'] });
  for (const tool of ['pay', 'web_search', 'agent', 'mcp__crm__get']) assertNotCalled(told, tool);
  for (const agent of ['auditor', 'audits', 'desk/auditor'])
    assertNotCalled(told, { tool: 'pay', agent });
  assertCalled(told, { tool: 'made_up', outcome: 'unknown_tool' });
});

test.each(['handoff', 'message_agent', 'agent', 'ask_person', 'escalate', 'goal_plan'])(
  'the tool %s of the runtime is known, also where the agent does not have it',
  (tool) => assertNotCalled(run, tool),
);

test.each<[string, (of: TestedRun) => void, string]>([
  ['no tool', (of) => assertNotCalled(of, {} as never), 'call cannot use its tool.'],
  ['nothing', (of) => assertNotCalled(of, undefined as never), 'call cannot use its tool.'],
  [
    'a count in words',
    (of) => assertNotCalled(of, { tool: 'pay', times: '2' } as never),
    'call cannot use its times.',
  ],
  [
    'an outcome that there is not',
    (of) => assertNotCalled(of, { tool: 'pay', outcome: 'denied' } as never),
    'call cannot use its outcome.',
  ],
  [
    'a kind that there is not',
    (of) => assertNotAsked(of, { kind: 'aproval' } as never),
    'question cannot use its kind.',
  ],
  ['null', (of) => assertNotAsked(of, null as never), 'An expected question is null.'],
  ['a cost in words', (of) => assertCost(of, '5' as never), 'An expected cost is a string.'],
  ['a limit in words', (of) => assertCost(of, { max: '5' } as never), 'cost cannot use its max.'],
  [
    'an end that there is not',
    (of) => expect(of).not.toHaveStopped('complete' as never),
    'An expected end cannot use its reason.',
  ],
])('an expectation with %s is refused, and not met by every run', (_, attempt, said) => {
  expect(() => attempt(run)).toThrow(said);
});

test('an assertion about the promise of a run says that it is awaited', () => {
  const promised = Promise.resolve(run) as unknown as TestedRun;
  expect(() => assertCalled(promised, 'pay')).toThrow('is about a run of testAgent.');
  expect(() => assertStopped(promised, 'completed')).toThrow('is about a run of testAgent.');
});
