/**
 * Runs whose decisions hang on a named change (core/step/changes.ts), on a real server. Their histories are kept of every
 * rules number: what older rules decide is in test/core/loop/changes.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { GRANTS_MAX } from '../../core/permission/grants.js';
import { follows, RULES_VERSION, type ChangeName } from '../../core/step/changes.js';
import { sceneOf, type Scene } from './support/open-question.js';
import { APPROVER } from './support/agents.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import { newKey, startDesk, type TestDesk } from './support/desk.js';
import {
  call,
  ofType,
  openAsk,
  pay,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

let world: World;
let desk: TestDesk;
let scene: Scene;
beforeAll(async () => {
  world = await startWorld();
  desk = await startDesk(world);
  scene = sceneOf(world, desk);
});
afterAll(async () => {
  await desk?.stop();
  await world.stop();
});

/** Long enough for as many grants as a run may have at once. */
const GRANT_MS = 8_000;

/** Recordings of older rules decide otherwise. */
const rules = Number(process.env['HOLDFAST_RULES'] ?? RULES_VERSION);
const has = (change: ChangeName): boolean => follows({ rules }, change);

async function cancelled(run: RunHandle): Promise<readonly string[]> {
  await run.cancel();
  return warnings((await world.ended(run)).events);
}

test('provenModes: a run that requires proof refuses a wider mode', async () => {
  const { run } = await scene.asked('wider-mode');
  await run.setPermissionMode('acceptEdits');
  await until('the mode', async () => warnings(await world.events('wider-mode'))[0]);
  const told = await cancelled(run);
  if (has('provenModes')) expect(told).toContain('permission_mode_refused');
});

test('othersWitness: whoever a run works for does not say whether its effects happened', async () => {
  const run = await world.start({
    runId: 'own-witness',
    task: { goal: 'Serve.', caller: 'carl' },
    replies: [call('odd.pay', { how: 'throws' }), say('Finished.')],
  });
  const ask = await openAsk(run);
  if (has('othersWitness')) expect(ask.requestedBy).toBe('carl');
  await run.answer(ask.askId, { kind: 'not_happened' }, { by: 'maria' });
  await cancelled(run);
});

test('namedReplies: a reply whose calls its event cannot hold names its message', async () => {
  const long = call('notes.write', { item: 'long '.repeat(60) });
  const run = await world.start({
    runId: 'long-calls',
    replies: [{ calls: Array.from({ length: 40 }, () => long.calls[0]!) }, say('Finished.')],
  });
  const { events } = await world.ended(run);
  const [response] = ofType(events, 'model_response');
  if (has('namedReplies')) expect(response).toMatchObject({ head: expect.any(String) });
});

test('calls beyond those that one reply may make have a result each, and are not run', async () => {
  const read = call('facts.read', { item: 'lamp' }).calls[0]!;
  const run = await world.start({
    runId: 'surplus-calls',
    replies: [{ calls: Array.from({ length: 51 }, () => read) }, say('Finished.')],
    budget: { maxToolCalls: 100 },
  });
  const { events } = await world.ended(run);
  expect(ofType(events, 'tool_finished')).toHaveLength(48);
});

test('grantsThatHold: a grant that has run out counts against no limit', async () => {
  const grant = {
    matcher: { tool: 'pay.asked', when: [{ path: 'amountCents', lte: 1 }] },
    uses: 1,
    expiresInMs: GRANT_MS,
  };
  const proposals = Array.from({ length: GRANTS_MAX + 1 }, (_, index) =>
    pay('pay.asked', 100 + index),
  );
  const run = await world.start({
    runId: 'many-grants',
    replies: [...proposals, say('Finished.')],
    settings: { allowStandingGrants: true },
    budget: { maxTurns: 2 * GRANTS_MAX, maxToolCalls: 2 * GRANTS_MAX },
  });
  const began = performance.now();
  for (let given = 0; given <= GRANTS_MAX; given += 1) {
    const { askId } = await openAsk(run);
    // The last one comes when the first has run out.
    if (given === GRANTS_MAX) await sleep(GRANT_MS + 2_000 - (performance.now() - began));
    const delivery = run.approve(askId, APPROVER, { grant });
    const isTaken = given < GRANTS_MAX || has('grantsThatHold');
    if (isTaken) expect(await delivery).toMatchObject({ verdict: { accepted: true } });
    else await expect(delivery).rejects.toThrow('too many standing grants');
  }
  if (has('grantsThatHold')) await world.ended(run);
  else await cancelled(run);
});

test('ownErrorFirst: a model that breaks ends the run when no time is left for another attempt', async () => {
  const broken = await startWorld({ worker: false });
  const provider = {
    name: 'anthropic',
    complete: () =>
      new Promise<never>((_, reject) => setTimeout(() => reject(new Error('It broke.')), 700)),
  };
  await broken.serve({ providers: new Map([[provider.name, provider]]) });
  const run = await broken.start({
    runId: 'broken-model',
    replies: [],
    budget: { timeoutMs: 1_200 },
  });
  const { events } = await broken.ended(run);
  expect(ofType(events, 'model_error')).toHaveLength(1);
  await broken.stop();
});

test('keysFetched: a decision with a new key of the desk counts while another call takes its time', async () => {
  const other = await startDesk(world, { trusted: false });
  const held = world.service.hold('new-key-beside-a-call', 'read');
  const run = await world.start({
    runId: 'new-key-beside-a-call',
    replies: [
      { calls: [call('facts.read', { item: 'lamp' }).calls[0]!, pay('pay.asked').calls[0]!] },
      say('Finished.'),
    ],
    settings: { requireProof: true, toolExecution: 'dataflow' },
  });
  await held;
  const ask = await openAsk(run);
  await until('the question in the store', () => world.store.getAsk(run.tenant, ask.askId));
  const { kid, key } = other.signer.key;
  await world.store.addDeskKey({ tenant: ALL_TENANTS, kid, key, at: Date.now(), by: 'test' });
  const decided = await other.post(
    `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`,
    { decision: 'approve', argsHash: ask.argsHash },
    { as: 'mia', key: newKey() },
  );
  if (has('keysFetched')) {
    // A worker that is too busy to answer has it all the same.
    expect([200, 202]).toContain(decided.status);
    await until('the end of the question', async () =>
      (await run.pendingApprovals()).length === 0 ? true : undefined,
    );
    world.service.releaseAll();
    const { events } = await world.ended(run);
    expect(world.service.visits(run.runId, 'effect')).toHaveLength(1);
    expect(ofType(events, 'transition').map(({ reason }) => reason)).toEqual(['next_turn']);
  } else {
    world.service.releaseAll();
    await cancelled(run);
  }
  await other.stop();
});

test('heldWords: a rejection that meets a correction beats it', async () => {
  const { run, ask } = await scene.asked('held-words');
  const [corrected, rejected] = await Promise.all([
    scene.decide(ask, { decision: 'modify', args: { order: 'A1', amountCents: 400 } }, 'mia'),
    scene.decide(ask, { decision: 'reject' }, 'ann'),
  ]);
  if (has('heldWords')) {
    const { events } = await world.ended(run);
    const [resolved] = ofType(events, 'approval_resolved');
    const [loser, winner] =
      resolved?.outcome === 'rejected' ? [corrected, rejected] : [rejected, corrected];
    expect([202, 409]).toContain(loser.status);
    expect([200, 202]).toContain(winner.status);
    if (winner === rejected) expect(world.service.visits('held-words', 'effect')).toEqual([]);
  } else await cancelled(run).catch(() => undefined);
});

test('clocksAhead: a decision from a clock that is an hour ahead does not count', async () => {
  const asked = await scene.asked('clock-ahead');
  const ahead = scene.signed(asked, { decidedAt: Date.now() + 3_600_000 });
  const delivery = await asked.run.decide(ahead);
  if (has('clocksAhead')) {
    expect(delivery).toMatchObject({ verdict: { accepted: false, reason: 'clock_ahead' } });
  }
  await cancelled(asked.run);
});
