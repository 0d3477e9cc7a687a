/** Time travel in a real browser: a run as it was after any of its steps, and two runs beside each other. */
import { startBundleDesk } from '../../console/index.js';
import { diffOf } from '../../recording/diff.js';
import { foldOf } from '../../recording/fold.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { recordOfBundle } from '../../replay/open-record.js';
import { parseBundle } from '../../replay/read-bundle.js';
import { toldIndex, toldMoment } from '../../replay/told-moment.js';
import { ANY_RUN, call, openAsk, say, until } from '../integration/support/world.js';
import { builtPageFolder } from '../built-page.js';
import { barriersOf } from './support/barriers.js';
import {
  describeInBrowser,
  inPage,
  IS_WIDER,
  screenshot,
  startBrowser,
  visit,
} from './support/browser.js';
import { HOSTILE } from './support/shop.js';
import { REFUND, setStage, type Stage } from './support/stage.js';

const LIMIT_MS = 120_000;
const ACTIVE = 'script, img[onerror], iframe, object, [onerror], [href^="javascript"]';

describeInBrowser('the steps of a run', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({ forks: true });
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const bundleOf = (runId: string) =>
    exportRun({ ...stage.world.place, store: stage.world.store }, { tenant: 'default', runId });

  test(
    'a slider, steps of a kind and a link show what `inspect` tells: state, request, rule and why, money, questions',
    async () => {
      const run = await stage.world.start({ runId: 'travelled', ...REFUND });
      await openAsk(run);
      // What the run still writes down is a step, too.
      await until('a run that rests', async () => {
        const { raw } = await stage.world.raw.workflow.getHandle('travelled').describe();
        const { pendingActivities, pendingWorkflowTask } = raw;
        return (pendingActivities?.length ?? 0) === 0 && !pendingWorkflowTask ? true : undefined;
      });
      const bundle = await bundleOf('travelled');
      const { steps } = foldOf(bundle);
      const asked = steps.find(({ inputs }) => inputs.length > 0)!.step;
      // What the desk gives is what a terminal gives.
      const record = await recordOfBundle(bundle, 'run');
      const listed = await stage.desk().get('/v1/runs/travelled/steps');
      expect(listed.body).toEqual(JSON.parse(JSON.stringify(toldIndex(record))));
      for (const { step } of steps) {
        const got = await stage.desk().get(`/v1/runs/travelled/steps/${step}`);
        expect(got.body).toEqual(JSON.parse(JSON.stringify(await toldMoment(record, step))));
      }

      const { page, faults, context } = await stage.open('rita', { path: '/runs/travelled' });
      await page.getByRole('tab', { name: 'Steps' }).click();
      const last = steps.length;
      await page.getByText(`Step ${last} of ${last}`).waitFor();
      const moment = page.getByRole('region', { name: 'After it' });
      await moment.getByText('awaiting approval').first().waitFor();
      await moment.getByText(/spent, .* reserved/).waitFor();
      await page.getByRole('region', { name: 'This is the last step' }).waitFor();
      await screenshot(page, 'steps-last');

      await page.getByLabel('Kind of step').selectOption('call_model');
      await page.getByRole('button', { name: '← Previous' }).click();
      const models = steps.filter(({ effects }) =>
        effects.some(({ kind }) => kind === 'call_model'),
      );
      await page
        .getByRole('region', { name: `Step ${models.at(-1)!.step}`, exact: true })
        .waitFor();
      const request = page.getByRole('region', {
        name: `Seen by the model: request ${models.length}`,
      });
      await request.getByText('System prompt').waitFor();
      await request.getByText('read_order', { exact: true }).first().waitFor();
      await page.getByRole('region', { name: `Next: step ${models.at(-1)!.step + 1}` }).waitFor();
      await page.waitForURL(`**/runs/travelled/steps/${models.at(-1)!.step}`);

      await page.getByLabel('Step', { exact: true }).fill(String(asked));
      await page.getByRole('region', { name: `Step ${asked}`, exact: true }).waitFor();
      const linked = await stage.open('rita', {
        path: `/runs/travelled/steps/${asked}`,
        phone: true,
      });
      await linked.page.getByRole('region', { name: `Step ${asked}`, exact: true }).waitFor();
      await screenshot(linked.page, 'steps-phone');
      for (const each of [page, linked.page]) expect(await barriersOf(each)).toEqual([]);
      expect(await inPage<boolean>(linked.page, IS_WIDER)).toBe(false);
      expect([faults, linked.faults]).toEqual([[], []]);
      await Promise.all([context.close(), linked.context.close()]);
    },
    LIMIT_MS,
  );

  test(
    'a fork of a step is played without effects first, shows what it would execute, and starts after a second question',
    async () => {
      const { world } = stage;
      const run = await world.start({ runId: 'forked', ...REFUND });
      const { runId } = await openAsk(run).then(() => run);
      world.script(ANY_RUN, REFUND.replies);
      const { page, faults, context } = await stage.open('rita', { path: `/runs/${runId}` });
      await page.getByRole('tab', { name: 'Steps' }).click();
      await page.getByText(/^Fork the run after step/).click();
      await page.getByLabel('Words of the user before the next request').fill('Look again.');
      await page.getByRole('button', { name: 'Play it without effects' }).click();
      const played = page.getByRole('region', { name: 'Played without effects' });
      await played.getByText('Would execute').first().waitFor();
      await screenshot(page, 'steps-fork');
      expect(await world.store.forksOf('default', runId, 9)).toEqual([]);
      await page.getByRole('button', { name: 'Start the fork …' }).click();
      await page.getByRole('button', { name: 'Start it', exact: true }).click();
      await page.getByText('The fork is started.').waitFor();
      const [fork] = await world.store.forksOf('default', runId, 9);
      await page.getByRole('link', { name: fork!.runId }).click();
      await page.getByText('Fork of').waitFor({ state: 'attached' });
      expect(faults).toEqual([]);
      await context.close();
      await Promise.all([run.interrupt(), world.client.handle(fork!.runId).interrupt()]);
    },
    LIMIT_MS,
  );

  test(
    'who may not read runs, is of another tenant, or names no step is refused; hostile texts stay texts',
    async () => {
      const { world } = stage;
      await world.ended(
        await world.start({
          runId: 'hostile-steps',
          agent: 'bank',
          task: `${HOSTILE.html} ${HOSTILE.bidi}`,
          replies: [call('mail.read', { folder: HOSTILE.html }, HOSTILE.html), say(HOSTILE.html)],
        }),
      );
      const path = '/v1/runs/hostile-steps/steps';
      const desk = stage.desk();
      expect((await desk.get(path, 'bob')).status).toBe(404);
      expect((await desk.get(`${path}/1`, 'bob')).status).toBe(404);
      expect((await desk.get(path, 'nobody')).status).toBe(403);
      expect((await desk.get(`${path}/999`)).body).toMatchObject({ code: 'invalid' });
      expect((await desk.get(`${path}/0`)).status).toBe(400);

      const { page, faults, context } = await stage.open('rita', { path: '/runs/hostile-steps' });
      await page.getByRole('tab', { name: 'Steps' }).click();
      await page.getByRole('region', { name: 'This is the last step' }).waitFor();
      await page.getByText('The whole state after this step').click();
      await page.getByText('The request as it was made').click();
      for (const each of await page.locator('.time-travel summary').all()) await each.click();
      const panel = page.locator('.time-travel');
      await panel.getByText('<script>window.hacked=1</script>').first().waitFor();
      expect(await panel.locator(ACTIVE).count()).toBe(0);
      expect(await inPage<unknown>(page, 'window.hacked')).toBeUndefined();
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a bundle is shown by itself: the page says that it is read-only, and hostile texts of it stay texts',
    async () => {
      await stage.world.ended(
        await stage.world.start({
          runId: 'bundled',
          agent: 'bank',
          task: HOSTILE.html,
          replies: [call('mail.read', { folder: HOSTILE.html }, HOSTILE.bidi), say(HOSTILE.html)],
        }),
      );
      const bundle = parseBundle(bundleText(await bundleOf('bundled')), 'bundled.json');
      const desk = await startBundleDesk({
        record: await recordOfBundle(bundle),
        file: `${HOSTILE.html}.json`,
        version: 'test',
        pageFolder: builtPageFolder(),
        say: () => undefined,
      });
      const browser = await startBrowser();
      try {
        const place = { url: desk.url, token: desk.token ?? '' };
        const { page, faults } = await visit(browser, place);
        await page.getByText('Read-only: a recorded run').waitFor();
        await page.getByRole('region', { name: 'This is the last step' }).waitFor();
        await page.getByRole('button', { name: '← Previous' }).click();
        await page.getByRole('region', { name: /^Next: step/ }).waitFor();
        for (const each of await page.locator('.time-travel summary').all()) await each.click();
        await screenshot(page, 'steps-bundle');
        expect(await barriersOf(page)).toEqual([]);
        expect(await page.locator('nav').count()).toBe(0);
        expect(await page.locator(`main :is(${ACTIVE})`).count()).toBe(0);
        expect(await inPage<unknown>(page, 'window.hacked')).toBeUndefined();
        await page.waitForURL(/\/steps\/\d+$/);
        const path = await inPage<string>(page, 'location.pathname');
        const linked = await visit(browser, { ...place, path });
        await linked.page.getByRole('region', { name: /^Next: step/ }).waitFor();
        expect([faults, linked.faults]).toEqual([[], []]);
      } finally {
        await browser.close();
        await desk.stop();
      }
    },
    LIMIT_MS,
  );

  test(
    'two runs are chosen in the list and stand beside each other: where they differ, why, how they ended',
    async () => {
      const { world } = stage;
      const run = (runId: string, folder: string) => ({
        runId,
        agent: 'bank',
        task: 'Read the mail.',
        replies: [call('mail.read', { folder }), say(`Read: ${HOSTILE.html}`)],
      });
      await world.ended(await world.start(run('left-run', 'inbox')));
      await world.ended(await world.start(run('right-run', HOSTILE.html)));
      const diff = await stage.desk().get('/v1/runs/left-run/diff/right-run');
      const [a, b] = await Promise.all(
        ['left-run', 'right-run'].map(async (runId) => {
          const bundle = await bundleOf(runId);
          return { runId, events: bundle.events, steps: foldOf(bundle).steps };
        }),
      );
      expect(diff.body).toEqual(JSON.parse(JSON.stringify(diffOf(a!, b!, { actions: false }))));
      expect((await stage.desk().get('/v1/runs/left-run/diff/right-run', 'bob')).status).toBe(404);
      expect((await stage.desk().get('/v1/runs/left-run/diff/nobody')).status).toBe(404);

      const { page, faults, context } = await stage.open('rita', { path: '/runs' });
      await page.getByLabel('Compare left-run').check();
      await page.getByText('Choose another run to compare with.').waitFor();
      await page.getByLabel('Compare right-run').check();
      await page.getByRole('link', { name: 'Compare the two chosen runs' }).click();
      await page.getByText('The runs differ in action.').waitFor();
      await page
        .getByText('The reply of the model differs, and the rules decide from there.')
        .waitFor();
      await page.getByRole('region', { name: 'Run A' }).getByText('left-run').waitFor();
      expect(await page.locator('.diff-table .differs').count()).toBeGreaterThan(0);
      for (const each of await page.locator('.diff-table summary').all()) await each.click();
      await screenshot(page, 'diff');
      expect(await barriersOf(page)).toEqual([]);
      expect(await page.locator(`main :is(${ACTIVE})`).count()).toBe(0);
      expect(await inPage<unknown>(page, 'window.hacked')).toBeUndefined();
      await page.locator('.diff-table a').first().click();
      await page.getByRole('region', { name: 'After it' }).waitFor();
      const same = await stage.open('rita', { path: '/runs/left-run/diff/left-run', phone: true });
      await same.page.getByText('Both runs did and said the same.').waitFor();
      expect(await inPage<boolean>(same.page, IS_WIDER)).toBe(false);
      expect([faults, same.faults]).toEqual([[], []]);
      await Promise.all([context.close(), same.context.close()]);
    },
    LIMIT_MS,
  );
});
