/** Matchers for jest and vitest, and assertions for any runner: one judgement behind both. */
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../index.js';
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
const agent = defineAgent({
  name: 'payer',
  model: 'anthropic/claude-sonnet-5-5',
  instructions: 'Pay.',
  tools: [pay],
});

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
  assertNotAsked(run, 'other');
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

test('an assertion about the promise of a run says that it is awaited', () => {
  const promised = Promise.resolve(run) as unknown as TestedRun;
  expect(() => assertCalled(promised, 'pay')).toThrow('is about a run of testAgent.');
  expect(() => assertStopped(promised, 'completed')).toThrow('is about a run of testAgent.');
});
