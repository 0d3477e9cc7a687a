/** Ends of sub-agents that Temporal tells: what their workflows returned is the result of the call. */
import { NO_COUNTERS } from '../../../core/goal/open.js';
import { heard } from '../../../core/loop/signals.js';
import { NO_USAGE } from '../../../core/state/model.js';
import { CHANGES } from '../../../core/step/changes.js';
import { call, calls, says, tool, type ChildScript, type Script } from '../script.js';
import {
  codesOf,
  createShell,
  crossSegment,
  finish,
  ofType,
  post,
  send,
  START,
  started,
  tick,
  type Shell,
} from '../shell.js';

const AGENT = { agent: 'case/r', version: '1', parallel: true } as const;

const RESULT = {
  runId: 'run_1:a1',
  status: 'completed',
  stopReason: 'completed',
  completed: true,
  answer: { text: 'All is well.' },
  usage: { ...NO_USAGE, input: 7 },
  costMicroUsd: 1_234,
  counters: NO_COUNTERS,
  sealed: true,
};

function delegating(children: readonly ChildScript[], more: Partial<Script> = {}): Shell {
  return createShell({
    tools: [tool('x_agent', { kind: 'subagent', effect: 'none', concurrencySafe: true })],
    agents: { r: AGENT },
    model: [calls(call('a', 'x_agent', { name: 'r', prompt: 'Look.' })), says('done')],
    children,
    ...more,
  });
}

function untilOpen(shell: Shell): void {
  while (shell.run.children?.[0]?.stage !== 'open') tick(shell);
}

test('What the workflow of a sub-agent returned is the result of its call, and nothing is read or timed any more.', () => {
  const before = finish(delegating([{}])).costMicroUsd;
  const shell = delegating([{ returns: RESULT }]);
  expect(finish(shell)).toMatchObject({ stopReason: 'completed', costMicroUsd: before + 1_234 });
  expect(started(shell, 'close_child')).toEqual([]);
  expect(ofType(shell, 'tool_finished')).toMatchObject([{ status: 'ok' }]);
  expect(JSON.stringify(ofType(shell, 'tool_finished'))).toContain('All is well.');
  expect(shell.run.money.reserved).toEqual({});
  expect(shell.run.inflight).toEqual({});
});

test('A thousand turns with a sub-agent each leave nothing in the state of their run.', () => {
  const turns = 1_000;
  const asking = (n: number) =>
    calls(call(`c${n}`, 'x_agent', { name: 'r', prompt: `Look at ${n}.` }));
  const children = Array.from({ length: turns }, () => ({ returns: RESULT }));
  const shell = delegating(children, {
    treeLimits: { depth: 2, atOnce: 4, inAll: turns },
    budget: { maxTurns: 'unlimited', maxToolCalls: 'unlimited', maxCostMicroUsd: 'unlimited' },
    model: [...Array.from({ length: turns }, (_, n) => asking(n)), says('done')],
  });
  const sizes: number[] = [];
  while (shell.run.final === undefined && tick(shell)) {
    const { children, childrenStarted = 0 } = shell.run;
    if (children?.[0]?.stage === 'open' && sizes.length < childrenStarted)
      sizes.push(JSON.stringify(shell.run).length);
  }
  expect(shell.run.final).toMatchObject({ result: { stopReason: 'completed' } });
  expect(sizes).toHaveLength(turns);
  // None said itself that it had ended, and none was read from the store.
  expect(started(shell, 'close_child')).toEqual([]);
  expect(JSON.stringify(shell.run.inflight)).toBe('{}');
  // Numbers get longer, and nothing else does.
  expect(Math.max(...sizes.slice(900)) - Math.max(...sizes.slice(0, 100))).toBeLessThan(200);
});

test.each([
  ['budget_exceeded', { stopReason: 'max_turns' }],
  ['malformed_result', { stopReason: 'invalid_output', partialOutput: { text: 'Nearly.' } }],
  ['execution_error', { stopReason: 'refused', detail: 'by policy' }],
] as const)('A sub-agent that did not complete is the result %s, with why.', (code, ended) => {
  const { answer: _, ...rest } = RESULT;
  const shell = delegating([
    { returns: { ...rest, status: 'stopped', completed: false, ...ended } },
  ]);
  expect(finish(shell).stopReason).toBe('completed');
  expect(codesOf(shell)).toEqual({ a: code });
  expect(JSON.stringify(ofType(shell, 'tool_finished'))).toContain(ended.stopReason);
  expect(started(shell, 'close_child')).toEqual([]);
});

test.each([
  ['nothing, because it failed', null],
  ['a result without a sealed row', { ...RESULT, sealed: undefined }],
  ['a result with a price below zero', { ...RESULT, costMicroUsd: -5 }],
  ['a result without tokens', { ...RESULT, usage: undefined }],
  ['a text', 'All is well.'],
  ['an answer that has no room in the run', { ...RESULT, answer: { text: 'x'.repeat(60_000) } }],
] as const)('Of a sub-agent that returned %s the store is asked.', (_, returns) => {
  const shell = delegating([{ returns, end: { costMicroUsd: 99 } }]);
  const before = finish(delegating([{}])).costMicroUsd;
  expect(finish(shell)).toMatchObject({ stopReason: 'completed', costMicroUsd: before + 99 });
  expect(started(shell, 'close_child')).toHaveLength(1);
});

test('An answer that was to fit a schema counts with the value that its own gate has read.', () => {
  const agents = { r: { ...AGENT, outputSchema: { text: '{"type":"object"}' } } };
  const unread = delegating([{ returns: RESULT }], { agents });
  finish(unread);
  expect(started(unread, 'close_child')).toHaveLength(1);
  const read = delegating([{ returns: { ...RESULT, output: { ok: true } } }], { agents });
  finish(read);
  expect(started(read, 'close_child')).toEqual([]);
});

test('A segment that has not started a sub-agent tells it once to say when it has ended.', () => {
  const shell = delegating([{ ms: Infinity, returns: RESULT }]);
  untilOpen(shell);
  const told = () => shell.effects.filter(({ kind }) => kind === 'tell_child');
  expect(told()).toEqual([]);
  for (let again = 0; again < 2; again += 1) {
    crossSegment(shell);
    while (!shell.run.segment.opened) tick(shell);
  }
  expect(told()).toEqual([{ kind: 'tell_child', child: 'run_1:a1', message: 'report' }]);
  post(shell, { type: 'child_ended', child: 'run_1:a1' });
  expect(finish(shell).stopReason).toBe('completed');
  expect(started(shell, 'close_child')).toHaveLength(1);
});

test('A sub-agent that was there before is told to say when it has ended.', () => {
  const shell = delegating([{ ms: Infinity, waits: true, returns: RESULT, existed: true }]);
  untilOpen(shell);
  while (shell.run.children?.[0]?.look === undefined) tick(shell);
  const told = shell.effects.filter(({ kind }) => kind === 'tell_child');
  expect(told).toEqual([{ kind: 'tell_child', child: 'run_1:a1', message: 'report' }]);
});

test('An end that comes in a full segment is taken by the next one.', () => {
  const shell = delegating([{ ms: Infinity, returns: RESULT }]);
  untilOpen(shell);
  post(shell, { type: 'child_done', child: 'run_1:a1', result: RESULT });
  crossSegment(shell);
  expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
  expect(started(shell, 'close_child')).toEqual([]);
});

test('A sub-agent that ends while it is looked at has the end that it returned.', () => {
  const shell = delegating([{ waits: true, returns: RESULT }]);
  untilOpen(shell);
  send(shell, { type: 'child_ended', child: 'run_1:a1' });
  expect(shell.run.children?.[0]?.stage).toBe('closing');
  post(shell, { type: 'child_done', child: 'run_1:a1', result: RESULT });
  expect(finish(shell).stopReason).toBe('completed');
  expect(shell.run.clock.waitingMs).toBeLessThan(60_000);
});

test('A run of older rules starts sub-agents that speak for themselves, and knows no word of a parent about it.', () => {
  const shell = delegating([{ returns: RESULT }], { rules: CHANGES.heardEnds.since - 1 });
  finish(shell);
  const [begun] = shell.effects.filter((effect) => effect.kind === 'start_child');
  expect(begun).toBeDefined();
  expect(JSON.stringify(begun)).not.toContain('hears');
  expect(heard(shell.run, { name: 'tellEnd', raw: undefined, at: START })).toMatchObject({
    type: 'input_rejected',
  });
});
