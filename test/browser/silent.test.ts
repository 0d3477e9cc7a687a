/** A decision at the desk while no worker is there. */
import { openAsk } from '../integration/support/world.js';
import { IMPATIENT } from '../integration/support/patience.js';
import { describeInBrowser } from './support/browser.js';
import { REFUND, setStage, type Stage } from './support/stage.js';

const LIMIT_MS = 150_000;

describeInBrowser('a desk without a worker', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({ worker: false, patience: IMPATIENT });
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  test(
    'a decision is sent, the page says so, and the decision counts as soon as a worker is back',
    async () => {
      const { world } = stage;
      const first = await stage.spawnWorker();
      const run = await world.start({ runId: 'silent', ...REFUND });
      const { askId } = await openAsk(run);
      await first.kill();
      const path = `/inbox/${encodeURIComponent(askId)}`;
      const { page, faults, context } = await stage.open('rita', { path });
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page
        .getByText('Sent. The decision counts as soon as a worker has taken it up.')
        .waitFor();
      await stage.spawnWorker();
      const { result } = await world.ended(run);
      await page
        .getByRole('button', { name: 'Approve', exact: true })
        .waitFor({ state: 'detached' });
      expect(result.stopReason).toBe('completed');
      expect(stage.books.refundsOf('O-104')).toHaveLength(1);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );
});
