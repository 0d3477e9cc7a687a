/** Business controls and the rules of the desk on a real server. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { FreezeScope } from '../../pure/freeze.js';
import { AGENT } from './support/agents.js';
import { call, ofType, openAsk, say, startWorld, until, type World } from './support/world.js';

const LEAD = { by: 'lea', roles: ['lead'] };
const input = z.object({ order: z.string(), cents: z.number().int() });
const paying = { version: '1', effect: 'financial', idempotency: 'keyed', input } as const;

const paid: { readonly runId: string; readonly tool: string; readonly order: string }[] = [];

function payment(name: string, more: Partial<Parameters<typeof defineTool<typeof input>>[0]>) {
  return defineTool({
    ...paying,
    name,
    approval: 'never',
    run: ({ order }, { runId }) => {
      paid.push({ runId, tool: name, order });
      return 'paid';
    },
    ...more,
  });
}

const config = defineConfig({
  agents: [
    defineAgent({
      name: AGENT,
      model: 'scripted/model',
      instructions: 'Serve.',
      tools: [
        payment('pay.asked', { approval: { roles: ['lead'] } }),
        payment('pay.once', { identity: ({ order }) => [order] }),
        payment('pay.three', { limits: { perDay: { count: 3 } } }),
        payment('pay.urgent', {
          approval: { roles: ['lead'], escalate: { afterMs: 1_500, roles: ['director'] } },
        }),
      ],
    }),
  ],
});

let world: World;
beforeAll(async () => {
  world = await startWorld({ workerSettings: { config } });
});
afterAll(() => world.stop());

function begin(runId: string, tool: string, order = `order of ${runId}`): Promise<RunHandle> {
  const replies = [call(tool, { order, cents: 500 }), say('Finished.')];
  return world.start({ runId, replies });
}

const paidBy = (runId: string) => paid.filter((one) => one.runId === runId);

async function codeOf(run: RunHandle): Promise<string> {
  const { events } = await world.ended(run);
  const [finished] = ofType(events, 'tool_finished');
  return finished?.code ?? finished?.status ?? 'none';
}

function freeze(id: string, scope: FreezeScope): Promise<boolean> {
  const why = { by: 'mia', reason: 'fraud wave', at: Date.now() };
  return world.store.setFreeze('default', { id, scope, ...why });
}

test.concurrent(
  'a freeze binds a run that was approved already, and lets others go on',
  async () => {
    const run = await begin('frozen', 'pay.asked');
    const ask = await openAsk(run);
    await freeze('frz_asked', { kind: 'tool', pattern: 'pay.as*' });
    await run.approve(ask.askId, LEAD);
    const { result, events } = await world.ended(run);
    expect(result.stopReason).toBe('completed');
    expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'frozen', status: 'error' }]);
    expect(world.requests('frozen').at(-1)?.body).toContain('pay.asked is frozen');
    expect(paidBy('frozen')).toEqual([]);
    await world.store.liftFreeze('default', { id: 'frz_asked', at: Date.now(), by: 'mia' });
    const again = await begin('thawed', 'pay.asked');
    await again.approve((await openAsk(again)).askId, LEAD);
    expect(await codeOf(again)).toBe('ok');
  },
);

test.concurrent('of two runs that pay for one order one pays, and the other asks', async () => {
  const runs = [await begin('twin-1', 'pay.once', 'A-1'), await begin('twin-2', 'pay.once', 'A-1')];
  const first = await until('one of them to pay', () => paid.find((one) => one.order === 'A-1'));
  const other = runs.find((run) => run.runId !== first.runId)!;
  const ask = await openAsk(other);
  expect(ask).toMatchObject({
    askId: `${other.runId}:0:repeat`,
    repeats: { identity: ['A-1'], earlier: [{ runId: first.runId, tool: 'pay.once' }] },
  });
  expect(paidBy(other.runId)).toEqual([]);
  await other.approve(ask.askId, LEAD);
  expect(await codeOf(other)).toBe('ok');
  expect(paidBy(other.runId)).toHaveLength(1);
  const effects = await world.store.listEffects('default', { subject: 'A-1' });
  expect(effects.map(({ runId, approvedBy }) => [runId, ...approvedBy])).toEqual([
    [other.runId, 'lea'],
    [first.runId],
  ]);
});

test.concurrent('runs at once never pass a limit together, and the others are told', async () => {
  const names = ['l1', 'l2', 'l3', 'l4', 'l5', 'l6'];
  const runs = await Promise.all(names.map((name) => begin(name, 'pay.three')));
  const codes = await Promise.all(runs.map(codeOf));
  expect(codes.toSorted()).toEqual([...Array(3).fill('limit_exceeded'), 'ok', 'ok', 'ok']);
  expect(paid.filter((one) => one.tool === 'pay.three')).toHaveLength(3);
});

test.concurrent(
  'a question goes to others after its time, by the timers of the server',
  async () => {
    const run = await begin('urgent', 'pay.urgent');
    const ask = await openAsk(run);
    const director = { by: 'dan', roles: ['director'] };
    const early = { ...director, askId: ask.askId, decision: 'approve' } as const;
    await expect(run.decideOn({ ...early, decidedAt: ask.openedAt })).rejects.toMatchObject({
      details: { reason: 'role_missing' },
    });
    // Whoever watches sees it although the run only waits.
    await until('the escalation to be seen', async () =>
      ofType(await world.events('urgent'), 'approval_escalated').at(0),
    );
    await run.approve(ask.askId, director);
    const { events } = await world.ended(run);
    expect(ofType(events, 'approval_escalated')).toMatchObject([{ roles: ['director'] }]);
    expect(paidBy('urgent')).toHaveLength(1);
  },
);
