/**
 * The attack table: forged, replayed, displaced and late decisions, and people who may not. After every row the
 * tool's own service has seen nothing that nobody allowed, and the audit trail tells the attempt.
 * Once as ever and once with reads that are tried within the tasks that decide, before everything that the model says: of
 * these a part that is drawn. HOLDFAST_WHOLE=1: all parts; HOLDFAST_SEED: of the draw.
 */
import type { Decision } from '../../core/state/ask.js';
import { callDigest } from '../../core/json/json.js';
import type { AskView } from '../../core/state/ask-view.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { sceneOf, type OpenQuestion, type Scene } from './support/open-question.js';
import { newKey, newSigner, startDesk, type TestDesk } from './support/desk.js';
import { AS_EVER, quickReadsIn, QUICKLY, type Reading } from './support/reading.js';
import {
  call,
  ofType,
  pay,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

const PARTS = ['A1', 'A2', 'A3', 'A4', 'A5'];
const PARTS_QUICKLY = drawn(PARTS, WHOLE ? Infinity : 1, SEED);
saySeed(`attacks with quick reads: ${PARTS_QUICKLY.join(', ')}`);

let world: World;
let desk: TestDesk;
let scene: Scene;

/** As many rows of decisions that do not count, then the run is ended by a person's no. */
async function ignoredAll(asked: OpenQuestion, count: number): Promise<readonly string[]> {
  const { runId } = asked.run;
  await until('a row for each', async () => {
    const found = await scene.rowsOf(runId, 'ignored');
    return found.length >= count ? found : undefined;
  });
  expect(scene.effects(runId)).toEqual([]);
  expect(await scene.decide(asked.ask, { decision: 'reject' })).toMatchObject({ status: 200 });
  const { events } = await world.ended(asked.run);
  expect(scene.effects(runId)).toEqual([]);
  expect(await scene.rowsOf(runId, 'ignored')).toHaveLength(count);
  expect(await scene.rowsOf(runId, 'effect_started')).toEqual([]);
  return warnings(events);
}

const placeOf = ({ run, ask }: OpenQuestion) => ({
  tenant: run.tenant,
  runId: run.runId,
  kind: ask.kind,
  policyVersion: ask.policyVersion,
});

describe.each<readonly [string, readonly string[], Reading]>([
  [AS_EVER.name, PARTS, AS_EVER],
  [QUICKLY.name, PARTS_QUICKLY, QUICKLY],
])('runs %s', (_, parts, reading) => {
  beforeAll(async () => {
    world = await startWorld({ worker: false });
    await world.serve({ config: reading.config({ serviceUrl: world.service.url }) });
    desk = await startDesk(world);
    scene = sceneOf(world, desk, reading.replying);
  });
  afterAll(async () => {
    await desk?.stop();
    await world.stop();
  });

  const part = (name: string, ...told: Parameters<typeof describe>): void =>
    (parts.includes(name) ? describe : describe.skip)(...told);

  test('read as they are said to', async () => {
    let runs = 0;
    // A read of a busy worker is an ordinary one.
    const tried = await until('a read within its task', async () => {
      const asked = await scene.asked(`reads-${(runs += 1)}`);
      expect(await scene.decide(asked.ask, { decision: 'reject' })).toMatchObject({ status: 200 });
      const found = quickReadsIn((await world.ended(asked.run)).history);
      return found > 0 || !reading.quickReads ? found : undefined;
    });
    expect(tried > 0).toBe(reading.quickReads);
  });

  part('A1', 'A1: a forged approval', () => {
    test('with any signed field changed after it was signed', async () => {
      const asked = await scene.asked('a1-fields');
      const when = [{ path: 'amountCents', lte: 500 }];
      const changes: readonly Partial<Decision>[] = [
        { by: 'mallory' },
        { roles: ['manager', 'director'] },
        { decidedAt: Date.now() - 1_000 },
        { nonce: newKey() },
        { decision: 'reject' },
        { decision: 'modify', args: { order: 'A1', amountCents: 1 } },
        { reason: 'because' },
        { amount: 5 },
        { value: 'paid' },
        { grant: { matcher: { tool: 'pay.asked', when }, uses: 1, expiresInMs: 1_000 } },
        { kid: 'dk_0000000000000000' },
      ];
      for (const change of changes) {
        await scene.signal('a1-fields', { ...scene.signed(asked), ...change });
      }
      const told = await ignoredAll(asked, changes.length);
      expect(told).toEqual(changes.map(() => 'decision_unproven'));
    });

    test('signed for another place, by another key, by none', async () => {
      const asked = await scene.asked('a1-places');
      const unsigned = { ...scene.signed(asked) };
      const forgeries: readonly object[] = [
        { ...unsigned, proof: undefined },
        { ...unsigned, proof: 'f'.repeat(128) },
        { ...unsigned, proof: `${unsigned.proof ?? ''}00` },
        newSigner().signDecision(placeOf(asked), scene.signed(asked)),
        scene.signed(asked, {}, { tenant: 'other' }),
        scene.signed(asked, {}, { runId: 'a1-fields' }),
        scene.signed(asked, {}, { kind: 'outcome' }),
        scene.signed(asked, {}, { policyVersion: 'another' }),
      ];
      for (const forgery of forgeries) await scene.signal('a1-places', forgery);
      await ignoredAll(asked, forgeries.length);
    });

    test('whose id was guessed, by signal and by HTTP', async () => {
      const asked = await scene.asked('a1-guessed');
      const { askId: right } = asked.ask;
      const ids = ['a1-guessed:7', `${right}:r1`, `${right}:outcome`, 'elsewhere:0', '*'];
      const forger = newSigner();
      for (const askId of ids) {
        const forged = forger.signDecision(placeOf(asked), scene.signed(asked, { askId }));
        await scene.signal('a1-guessed', forged);
      }
      for (const askId of ids) {
        expect((await scene.decide({ ...asked.ask, askId } as AskView)).status).toBe(404);
      }
      await ignoredAll(asked, ids.length);
    });

    test('with the delimiters of a list moved into its values', async () => {
      const asked = await scene.asked('a1-delimiters', { replies: [pay('pay.asked'), say('Ok.')] });
      const joined = scene.signed(asked, { roles: ['clerk","manager'], by: 'mia' });
      const split = { ...joined, roles: ['clerk', 'manager'] };
      const moved = { ...scene.signed(asked, { by: 'a', nonce: 'b:c-12345' }), by: 'a:b' };
      for (const forgery of [split, moved]) await scene.signal('a1-delimiters', forgery);
      await ignoredAll(asked, 2);
    });

    test('whose keys come in another order is the same decision, and counts once', async () => {
      const asked = await scene.asked('a1-order');
      const signed = scene.signed(asked);
      const turned = Object.fromEntries(Object.entries(signed).reverse());
      await scene.signal('a1-order', turned);
      await scene.signal('a1-order', signed);
      const { result } = await world.ended(asked.run);
      expect(result.completed).toBe(true);
      expect(scene.effects('a1-order')).toHaveLength(1);
    });
  });

  part('A2', 'A2: a replayed approval', () => {
    test('opens neither the next identical call nor its own question again', async () => {
      const asked = await scene.asked('a2-next', {
        replies: [pay('pay.asked'), pay('pay.asked'), say('Finished.')],
      });
      const signed = scene.signed(asked);
      await scene.signal('a2-next', signed);
      const second = await until('the second question', async () =>
        (await asked.run.pendingApprovals()).find(({ askId }) => askId !== asked.ask.askId),
      );
      expect(second.argsHash).toBe(asked.ask.argsHash);
      await scene.signal('a2-next', signed);
      await scene.signal('a2-next', { ...signed, askId: second.askId });
      await until('both rows', async () =>
        (await scene.rowsOf('a2-next', 'ignored')).length >= 2 ? true : undefined,
      );
      expect(scene.effects('a2-next')).toHaveLength(1);
      expect(await scene.decide(second, { decision: 'reject' })).toMatchObject({ status: 200 });
      await world.ended(asked.run);
      expect(scene.effects('a2-next')).toHaveLength(1);
    });

    test('after a rejection opens nothing', async () => {
      const asked = await scene.asked('a2-rejected');
      const signed = scene.signed(asked);
      await scene.signal('a2-rejected', scene.signed(asked, { decision: 'reject' }));
      await scene.signal('a2-rejected', signed);
      await world.ended(asked.run);
      expect(await scene.decide(asked.ask)).toMatchObject({ status: 409 });
      expect(scene.effects('a2-rejected')).toEqual([]);
      expect(await scene.rowsOf('a2-rejected', 'decision_refused')).toHaveLength(1);
    });
  });

  part('A3', 'A3: an approval of other arguments', () => {
    test('for a sibling of the call is refused before either has started', async () => {
      const both = {
        calls: [...pay('pay.asked').calls, ...pay('pay.asked', 900).calls],
      };
      const asked = await scene.asked('a3-sibling', { replies: [both, say('Finished.')] });
      const [tool, toolVersion] = ['pay.asked', '1'];
      const hash = callDigest({ tool, toolVersion, args: { order: 'A1', amountCents: 900 } });
      expect(hash).not.toBe(asked.ask.argsHash);
      await scene.signal('a3-sibling', scene.signed(asked, { argsHash: hash }));
      expect(await scene.decide(asked.ask, { argsHash: hash })).toMatchObject({ status: 409 });
      await until('the row', async () => (await scene.rowsOf('a3-sibling', 'ignored')).at(0));
      expect(scene.effects('a3-sibling')).toEqual([]);
      await asked.run.interrupt();
      await world.ended(asked.run);
      expect(scene.effects('a3-sibling')).toEqual([]);
    });

    test.each([
      ['another form of the same letters', 'Caf\u00e9', 'Cafe\u0301', false],
      ['a letter that looks the same', 'PAY-1', 'P\u0410Y-1', false],
      ['an invisible letter', 'A1', 'A1\u200b', false],
      ['the same text', 'A1', 'A1', true],
    ])(
      'after a correction to %s it counts only for exactly that',
      async (_what, was, now, same) => {
        const runId = `a3-text-${was.length}-${now.length}-${now.codePointAt(1) ?? 0}`;
        const first = { order: was, amountCents: 500 };
        const asked = await scene.asked(runId, {
          replies: [call('pay.asked', first), say('Finished.')],
        });
        const proof = scene.signed(asked);
        const args = { order: now, amountCents: 500 };
        const corrected = await scene.decide(asked.ask, { decision: 'modify', args }, 'mia');
        // What changes nothing is no correction; everything else is another action.
        expect(corrected.status).toBe(same ? 409 : 200);
        await scene.signal(runId, proof);
        await world.ended(asked.run);
        expect(scene.effects(runId)).toHaveLength(1);
        const [started] = await scene.rowsOf(runId, 'effect_started');
        const isFirst = started?.facts.argsHash === asked.ask.argsHash;
        expect(isFirst).toBe(same);
      },
    );
  });

  part('A4', 'A4: decisions that come too many or too late', () => {
    test('a thousand at once, while no worker runs, make one outcome', async () => {
      const alone = await startWorld({ worker: false });
      const itsDesk = await startDesk(alone);
      try {
        const its = sceneOf(alone, itsDesk, reading.replying);
        const worker = await alone.spawn(reading.spawned);
        const asked = await its.asked('a4-crowd');
        // A worker that dies with a workflow task in hand has the server buffer signals, of which it holds a hundred.
        await until('the run at rest', async () => {
          const { raw } = await alone.raw.workflow.getHandle('a4-crowd').describe();
          return raw.pendingWorkflowTask || raw.pendingActivities?.length ? undefined : true;
        });
        await worker.kill();
        const decisions = Array.from({ length: 1_000 }, (_, index) =>
          its.signed(asked, {
            by: `person-${index}`,
            decision: index % 2 === 0 ? 'approve' : 'reject',
          }),
        );
        const forged = decisions.map((decision) => ({ ...decision, reason: 'changed afterwards' }));
        const sent = [...forged.slice(0, 40), ...decisions, ...forged.slice(40, 100)];
        for (const decision of sent) await its.signal('a4-crowd', decision);
        await alone.spawn(reading.spawned);
        const { result } = await alone.ended(asked.run);
        expect(result.stopReason).toBe('completed');
        const { askId } = asked.ask;
        const about = await alone.store.readAudit('default', { askId, limit: 100 });
        const resolved = about.filter(({ kind }) => kind === 'resolved');
        expect(resolved).toHaveLength(1);
        const approved = resolved[0]?.facts.outcome === 'approved';
        expect(its.effects('a4-crowd')).toHaveLength(approved ? 1 : 0);
      } finally {
        await itsDesk.stop();
        await alone.stop();
      }
    }, 180_000);

    test('after the run was cancelled or interrupted, or the question expired', async () => {
      const cancelled = await scene.asked('a4-cancelled');
      await cancelled.run.cancel();
      const interrupted = await scene.asked('a4-interrupted');
      await interrupted.run.interrupt();
      const run = await world.start({
        runId: 'a4-expired',
        replies: reading.replying([pay('pay.asked')]),
        settings: { requireProof: true, approvalTimeoutMs: 300 },
      });
      const { events } = await world.ended(run);
      const [ask] = ofType(events, 'approval_requested');
      const all: readonly OpenQuestion[] = [cancelled, interrupted, { run, ask: ask! }];
      for (const asked of all) {
        const { runId } = asked.run;
        await asked.run.result({ timeoutMs: 30_000 }).catch(() => undefined);
        expect(await scene.decide(asked.ask)).toMatchObject({ status: 409 });
        await scene.signal(runId, scene.signed(asked)).catch(() => undefined);
        expect(scene.effects(runId)).toEqual([]);
        expect(await scene.rowsOf(runId, 'decision_refused')).toHaveLength(1);
      }
    });
  });

  part('A5', 'A5: people who may not', () => {
    test('the requester, the wrong role, nobody, an expired login, another tenant', async () => {
      const caller = 'service:ann';
      const asked = await scene.asked('a5', { task: { goal: 'Serve the customer.', caller } });
      const before = (await world.store.auditHead('default')).seq;
      const before2 = (await world.store.auditHead('other')).seq;
      expect((await scene.decide(asked.ask, {}, 'ann')).status).toBe(403);
      expect((await scene.decide(asked.ask, {}, 'clerk')).status).toBe(403);
      expect((await scene.decide(asked.ask, {}, 'nobody')).status).toBe(403);
      expect((await scene.decide(asked.ask, {}, 'bob')).status).toBe(404);
      const late = await desk.get('/v1/approvals', 'mia', {
        authorization: 'Bearer hf_service_expired',
      });
      expect(late.status).toBe(401);
      expect(late.text).not.toMatch(/expired|hf_service/);
      expect(scene.effects('a5')).toEqual([]);
      const told = await world.store.readAudit('default', { after: before, limit: 100 });
      expect(told.map(({ kind, by }) => [kind, by])).toEqual(
        expect.arrayContaining([
          ['decision_refused', 'service:ann'],
          ['decision_refused', 'service:clerk'],
          ['access_denied', 'service:nobody'],
        ]),
      );
      const theirs = await world.store.readAudit('other', { after: before2, limit: 100 });
      expect(theirs.map(({ kind }) => kind)).toContain('access_denied');
      // The same people with a proof of their own, straight to Temporal.
      await scene.signal('a5', scene.signed(asked, { by: caller }));
      await scene.signal('a5', scene.signed(asked, { by: 'clerk', roles: ['clerk'] }));
      // With those that came over the desk: it tells the run, and the run tells them why not.
      await ignoredAll(asked, 4);
    });
  });

  test('nothing of a token, a path or a stack is in the log of the console', () => {
    expect(desk.log.join('\n')).not.toMatch(/hf_service|node_modules|\bat .*:\d+:\d+/);
  });
});
