/** A rejection at the desk that meets a colleague's correction (G119): nobody is told what does not come true. */
import type { AskView } from '../../core/state/ask-view.js';
import { idOf, newKey, startDesk, type Name, type TestDesk } from './support/desk.js';
import { sceneOf, type Scene } from './support/open-question.js';
import { PATIENT } from './support/patience.js';
import { startWorld, until, type World } from './support/world.js';

const LESS = { order: 'A1', amountCents: 400 };

interface Desk {
  readonly world: World;
  readonly desk: TestDesk;
  readonly scene: Scene;
  stop(): Promise<void>;
}

async function newDesk(patience: World['patience'] = PATIENT): Promise<Desk> {
  const world = await startWorld({ worker: false, ...patience });
  const desk = await startDesk(world);
  const stop = async () => {
    await desk.stop();
    await world.stop();
  };
  return { world, desk, scene: sceneOf(world, desk), stop };
}

let open: Desk;
beforeAll(async () => {
  open = await newDesk();
});
afterAll(() => open?.stop());

interface Word {
  readonly by: Name;
  readonly key: string;
  readonly body: object;
}

const word = (by: Name, body: object): Word => ({ by, key: newKey(), body });
const modify = word('mia', { decision: 'modify', args: LESS });
const reject = word('ann', { decision: 'reject', reason: 'No receipt.' });

const say = ({ desk }: Desk, ask: AskView, { by, key, body }: Word) =>
  desk.post(
    `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`,
    { argsHash: ask.argsHash, ...body },
    { as: by, key },
  );

const fresh = (one: Word): Word => ({ ...one, key: newKey() });

test('while a worker serves the run, every rejection holds that was not refused, at any distance', async () => {
  const worker = await open.world.serve();
  for (let distance = 0; distance < 15; distance += 1) {
    const runId = `apart-${distance}`;
    const { run, ask } = await open.scene.asked(runId);
    const [correction, rejection] = [fresh(modify), fresh(reject)];
    const first = say(open, ask, correction);
    await new Promise((done) => setTimeout(done, distance));
    const [corrected, rejected] = await Promise.all([first, say(open, ask, rejection)]);
    const { events } = await open.world.ended(run);
    const counted = events.find(({ type }) => type === 'approval_resolved');
    const isRejected =
      counted !== undefined && 'outcome' in counted && counted.outcome === 'rejected';
    const [winner, loser] = isRejected ? [rejected, corrected] : [corrected, rejected];
    const [decided, lost] = isRejected
      ? [{ outcome: 'rejected', by: idOf('ann') }, correction]
      : [{ outcome: 'modified', by: idOf('mia') }, rejection];
    // A worker that is too busy to answer at once has it all the same: then the answer is `sent`.
    if (winner.status === 200) expect(winner.body).toMatchObject({ outcome: decided.outcome });
    else expect(winner.status).toBe(202);
    if (loser.status === 409)
      expect(loser.body).toMatchObject({ code: 'already_decided', decided });
    else expect(loser.status).toBe(202);
    if (isRejected) expect(open.scene.effects(runId)).toEqual([]);
    const refused = await open.scene.rowsOf(runId, 'decision_refused');
    expect(refused).toMatchObject([{ askId: ask.askId, facts: { reason: 'already_decided' } }]);
    expect(refused).toHaveLength(1);
    expect(await say(open, ask, lost)).toMatchObject({ status: 409 });
  }
  worker.shutdown();
}, 300_000);

test('while no worker runs both are sent, and the answer to the one that loses is corrected', async () => {
  // Both answers say that no worker has taken it: nobody waits long for one.
  const own = await newDesk({ workerLimitMs: 2_000 });
  const worker = await own.world.serve();
  const { run, ask } = await own.scene.asked('away');
  worker.shutdown();
  const [correction, rejection] = [fresh(modify), fresh(reject)];
  expect(await say(own, ask, correction)).toMatchObject({ status: 202, body: { state: 'sent' } });
  expect(await say(own, ask, rejection)).toMatchObject({ status: 202, body: { state: 'sent' } });
  await own.world.serve();
  const { events } = await own.world.ended(run);
  expect(own.scene.effects('away')).toEqual([]);
  expect(events.find(({ type }) => type === 'approval_resolved')).toMatchObject({
    outcome: 'rejected',
    by: [idOf('ann')],
  });
  const refused = await until('the rows', async () => {
    const rows = await own.scene.rowsOf('away', 'decision_refused');
    return rows.length > 0 ? rows : undefined;
  });
  const decided = { outcome: 'rejected', by: idOf('ann') };
  expect(refused).toMatchObject([
    { by: idOf('mia'), askId: ask.askId, facts: { reason: 'already_decided', decided } },
  ]);
  expect(await own.scene.rowsOf('away', 'ignored')).toHaveLength(1);
  const again = await say(own, ask, correction);
  expect(again).toMatchObject({ status: 409, body: { code: 'already_decided', decided } });
  expect(await say(own, ask, correction)).toMatchObject({ status: 409, body: { decided } });
  expect(await say(own, ask, rejection)).toMatchObject({ status: 202 });
  await own.stop();
}, 300_000);
