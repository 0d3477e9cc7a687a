/** The rows of sub-agents that are given up: what they may still cost is billed. */
import type { CloseChildInput, PrepareChildInput } from '../../core/state/effect.js';
import { agent } from '../../authoring/agent-tool.js';
import { closeChild } from '../../activities/agents/close-child.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { costOfPassed, stopPassed } from '../../activities/agents/passed-child.js';
import type { DescribedRun } from '../../activities/describe-run.js';
import type { Scope } from '../../activities/scope.js';
import { attempt, effect, RUN, startBed, type Bed } from './setup.js';

const CHILD = `${RUN.runId}:a1`;
const LIMITS = { depth: 2, atOnce: 4, inAll: 50 };

async function register(bed: Bed, child: string, parent: string): Promise<void> {
  const start = JSON.stringify({
    v: 1,
    task: { goal: 'Another task.' },
    start: { agent: 'case/r', budget: { maxCostMicroUsd: 1_000 } },
    agentVersion: '1',
    bounds: { lineage: { call: 'z' } },
  });
  const place = { root: RUN.runId, path: ['case', 'r'], call: 'z' };
  const { tenant } = RUN;
  await bed.store.registerChild({ tenant, child, parent, n: 1, digest: 'old', start, place });
}

test('A lost sub-agent costs all that was reserved while something below it has no result, asked again too.', async () => {
  const bed = await startBed();
  await register(bed, CHILD, RUN.runId);
  await register(bed, `${CHILD}:a1`, CHILD);
  const describe = () => Promise.resolve({ state: 'not_found' as const });
  const scope = { describe, execution: 'exec-1' } as unknown as Scope;
  const close = () => closeChild({ store: bed.store } as ActivityDeps, scope, input);
  const input: CloseChildInput = {
    v: 1,
    run: RUN,
    child: CHILD,
    name: 'r',
    last: true,
    sliceMicroUsd: 1_000,
    inlineBytesMax: 1_000,
    events: [],
  };
  const lost = { unconfirmed: true, costMicroUsd: 1_000 };
  expect((await close()).end).toMatchObject(lost);
  expect((await close()).end).toMatchObject(lost);
  await bed.end();
});

test('An earlier sub-agent of a reset run with another task is sealed, and costs what was reserved for it.', async () => {
  const bed = await startBed({ tools: [agent] });
  await register(bed, CHILD, RUN.runId);
  await bed.store.sealChild(RUN.tenant, CHILD);
  const { $blob: authority } = await bed.store.putBlob(
    RUN.tenant,
    JSON.stringify({ v: 1, tools: {}, within: [] }),
  );
  const args = { name: 'r', prompt: 'Look.' };
  const input: PrepareChildInput = {
    v: 1,
    run: RUN,
    child: CHILD,
    n: 1,
    name: 'r',
    agent: { agent: 'case/r', version: '1' },
    call: { tool: 'agent', toolVersion: '1', args, digest: 'd', id: 'a' },
    authority,
    mode: 'default',
    lineage: { root: RUN.runId, path: ['case', 'r'], call: 'a', limits: LIMITS },
    slice: {},
    events: [],
  };
  const { refused } = await attempt(bed.activities().prepare_child, input, effect());
  expect(refused).toMatchObject({ why: 'passed', costMicroUsd: 1_000 });
  expect((await bed.store.childRow(RUN.tenant, CHILD))?.state).toBe('sealed');
  await bed.end();
});

test.each([
  ['runs as its own', { state: 'running', parent: RUN.runId }, [CHILD]],
  ['is a run of somebody else', { state: 'running', parent: null }, []],
  ['has ended', { state: 'closed', parent: RUN.runId }, []],
  ['is not known', { state: 'not_found' }, []],
] as const)('An earlier sub-agent that %s is told to stop, or not.', async (_, known, wanted) => {
  const bed = await startBed();
  await register(bed, CHILD, RUN.runId);
  const told: string[] = [];
  let looks = 0;
  const scope = {
    signal: new AbortController().signal,
    describe: () => Promise.resolve<DescribedRun>(known),
    stop: (runId: string) => Promise.resolve(void told.push(runId)),
  } as unknown as Scope;
  const timers = {
    after(_ms: number, then: () => void) {
      looks += 1;
      queueMicrotask(then);
      return () => undefined;
    },
  };
  const ids = { run: RUN, child: CHILD };
  await stopPassed({ store: bed.store, timers } as unknown as ActivityDeps, scope, ids);
  expect(told).toEqual(wanted);
  // It has its time, and then costs what was reserved.
  expect(looks).toBe(wanted.length === 0 ? 0 : 60);
  expect(await costOfPassed(bed.store, ids)).toBe(1_000);
  await bed.end();
});
