/** The row of the run that a task goes to, when the run that hands over was reset and asks again. */
import { prepareHandoff } from '../../activities/agents/prepare-handoff.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type { Scope } from '../../activities/scope.js';
import type { PrepareHandoffInput } from '../../core/state/effect.js';
import { RUN, sessionEvent, startBed, type Bed } from './setup.js';

const CHILD = `${RUN.runId}:h1`;

let bed: Bed;
beforeEach(async () => void (bed = await startBed()));
afterEach(() => bed.end());

async function handing(summary: string, timeoutMs: number): Promise<PrepareHandoffInput> {
  const head = await bed.store.putNode(RUN.tenant, {
    v: 1,
    parent: null,
    role: 'root',
    messageId: 'root',
    blocks: [],
  });
  return {
    v: 1,
    run: RUN,
    child: CHILD,
    n: 1,
    handoff: { callId: 'h', from: 'case', to: 'billing', filter: 'summary', args: { summary } },
    handoffs: 1,
    head,
    start: { v: 1, agent: 'case', task: { goal: 'Bill it.' }, budget: { timeoutMs } },
    events: [],
  };
}

async function prepared(input: PrepareHandoffInput, parent: string | null = RUN.runId) {
  const scope = {
    describe: () => Promise.resolve({ state: 'closed', parent }),
    execution: 'exec-1',
    signal: new AbortController().signal,
  } as unknown as Scope;
  return prepareHandoff({ store: bed.store } as ActivityDeps, scope, input);
}

/** The other run writes its first event. */
async function begin(): Promise<void> {
  const event = { ...sessionEvent(), stamp: { ...sessionEvent().stamp, runId: CHILD } };
  const run = { tenant: RUN.tenant, runId: CHILD, execution: 'exec-2' };
  await bed.store.appendEvents(run, [event]);
}

test('The same handoff finds the run that it once started, whatever time is left by now.', async () => {
  const first = await prepared(await handing('Paid.', 60_000));
  expect(first.begun).toBeUndefined();
  await begin();
  const again = await prepared(await handing('Paid.', 50_000));
  expect(again).toMatchObject({ begun: true, start: first.start });
  expect((await bed.store.childRow(RUN.tenant, CHILD))?.state).toBe('open');
});

test('Another handoff gives the number up, and so does one whose id somebody else has.', async () => {
  await prepared(await handing('Paid.', 60_000));
  await begin();
  expect((await prepared(await handing('Paid.', 50_000), 'stranger')).begun).toBeUndefined();
  const other = await prepared(await handing('Refused.', 60_000));
  expect(other).toMatchObject({ taken: { costMicroUsd: 0 } });
  expect((await bed.store.childRow(RUN.tenant, CHILD))?.state).toBe('sealed');
});
