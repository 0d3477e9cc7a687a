/** What a run hands on to its sub-agents, and in which order hooks have their say. */
import { writeAuthority } from '../../activities/run/authority.js';
import { boundedHooks } from '../../activities/run/bounds.js';
import type { Bounds } from '../../core/state/sub-agent.js';
import { frozenOf, tool } from '../core/script.js';

test('Hooks of ancestors judge a call after the own ones, which may rewrite its arguments.', () => {
  const bounds = { hooks: ['shared', 'guard'] } as unknown as Bounds;
  const start = { v: 1, agent: 'case', task: { goal: 'x' }, bounds } as const;
  const own = { hooks: { PreToolUse: ['shared', 'rewrite'] } };
  expect(boundedHooks(own, start).hooks.PreToolUse).toEqual(['rewrite', 'shared', 'guard']);
});

test('A hosted tool that a run does not see because of a condition is not handed on.', async () => {
  const written: string[] = [];
  const store = {
    putBlob: (_: string, text: string) => {
      written.push(text);
      return Promise.resolve({ $blob: 'hash', bytes: text.length });
    },
  };
  const frozen = frozenOf({
    model: [],
    tools: [tool('x_web', { kind: 'hosted' }), tool('x_free', { kind: 'hosted' }), tool('x_read')],
    policy: [{ tool: 'x_web', decision: 'deny', when: { path: 'a', equals: 1 } }],
    agents: { r: { agent: 'case/r', version: '1' } },
  });
  const run = { tenant: 't', runId: 'run_1', traceId: 'run_1' };
  const start = { v: 1, agent: 'case', task: { goal: 'x' } } as const;
  await writeAuthority(store as never, { run, start }, frozen);
  const { tools } = JSON.parse(written[0] ?? '{}') as { readonly tools: object };
  expect(Object.keys(tools).sort()).toEqual(['x_free', 'x_read']);
});
