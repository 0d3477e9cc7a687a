/** A call that a fork makes, or a run below one, after its family did the same: a person is asked first. */
import { z } from 'zod';
import { ledgerSubject, ledgerTarget } from '../../activities/tool/ledger-names.js';
import { defineTool } from '../../authoring/index.js';
import type { RunRef, ToolCallRef } from '../../core/state/effect.js';
import {
  attempt,
  callOf,
  EXECUTION,
  executeInput,
  sessionEvent,
  startBed,
  type Bed,
} from './setup.js';

const SEVEN = { cents: 7 };

let bed: Bed;
let paid: string[];

beforeEach(async () => {
  paid = [];
  const payTool = defineTool({
    name: 'pay',
    version: '1',
    effect: 'financial',
    idempotency: 'none',
    approval: 'by_policy',
    input: z.object({ cents: z.number() }),
    run: (_, { idempotencyKey }) => {
      paid.push(idempotencyKey);
      return 'paid';
    },
  });
  bed = await startBed({ tools: [payTool] });
  await bed.store.putFork({
    tenant: 'default',
    runId: 'fork',
    parent: 'parent',
    step: 3,
    body: '{}',
    at: 1,
  });
});
afterEach(() => bed.end());

interface Paying {
  readonly attempt?: number;
  readonly seen?: readonly string[];
  readonly args?: { readonly cents: number };
}

function callBy(runId: string, { attempt: n = 1, args = SEVEN }: Paying): ToolCallRef {
  return callOf('pay', args, { key: `${runId}:1`, attempt: n });
}

const runOf = (runId: string): RunRef => ({ tenant: 'default', runId, traceId: 'trace' });

async function pay(runId: string, paying: Paying = {}) {
  const call = callBy(runId, paying);
  const input = executeInput(call, {
    run: runOf(runId),
    ...(runId === 'fork' && { forked: true }),
  });
  const grant = { ...input.grant, ...(paying.seen !== undefined && { repeats: paying.seen }) };
  const info = {
    activityId: `execute_tool-${call.key}-${call.attempt}`,
    workflowExecution: { workflowId: runId, runId: EXECUTION },
    heartbeatTimeoutMs: 300,
  };
  return (await attempt(bed.activities().execute_tool, { ...input, grant }, info)).outcome;
}

/** The attempt was lost before its claim: looking into it takes it away. */
async function lose(runId: string): Promise<void> {
  const call = callBy(runId, {});
  const asked = { v: 1, run: runOf(runId), call, inlineBytesMax: 4_096, timeoutMs: 500 } as const;
  const info = {
    activityId: `reconcile_tool-${call.key}`,
    workflowExecution: { workflowId: runId, runId: EXECUTION },
    heartbeatTimeoutMs: 300,
  };
  const { finding } = await attempt(
    bed.activities().reconcile_tool,
    { ...asked, events: [sessionEvent()] },
    info,
  );
  expect(finding).toMatchObject({ kind: 'not_happened' });
}

const ASKS = { kind: 'repeats', repeats: { earlier: [{ key: 'parent:1', state: 'done' }] } };

test.each(['fork', 'fork:a1'])(
  '%s asks, also after an attempt that was lost before its claim',
  async (runId) => {
    await pay('parent');
    expect(await pay(runId)).toMatchObject(ASKS);
    await lose(runId);
    expect(await pay(runId, { attempt: 2 })).toMatchObject(ASKS);
    expect(paid).toEqual(['parent:1']);
    expect(await pay(runId, { attempt: 2, seen: ['parent:1'] })).toMatchObject({ kind: 'ok' });
    expect(paid).toEqual(['parent:1', `${runId}:1`]);
  },
);

test.each(['fork', 'fork:a1'])(
  '%s asks where another version of the tool did the same, and not for other arguments',
  async (runId) => {
    const call = callOf('pay', SEVEN, { key: 'parent:1', toolVersion: '0' });
    const run = runOf('parent');
    await bed.store.claim({
      ...ledgerTarget(run, call),
      ...ledgerSubject(run, call),
      claimedUntil: 9,
      sameKeyRetry: false,
    });
    expect(await pay(runId)).toMatchObject({
      kind: 'repeats',
      repeats: { earlier: [{ key: 'parent:1', state: 'under_way' }] },
    });
    expect(await pay(runId, { args: { cents: 8 } })).toMatchObject({ kind: 'ok' });
  },
);
