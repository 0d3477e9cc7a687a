/** The tree of a run in a real browser: its sub-agents with status and cost, a link to each, and what all paid by route. */
import { call, say } from '../integration/support/world.js';
import { config as treeConfig, TREE_AGENT } from '../integration/support/tree-agents.js';
import { describeInBrowser, inPage, IS_WIDER, screenshot } from './support/browser.js';
import { setStage, type Stage } from './support/stage.js';

const LIMIT_MS = 120_000;
/** No sub-agent of this test calls it. */
const NO_SERVICE = 'http://127.0.0.1:9';
const SCRIPT = '<img src=x onerror="document.title=1">';

describeInBrowser('the tree of a run', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({ besides: treeConfig({ serviceUrl: NO_SERVICE }) });
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  test(
    'sub-agents are listed under their run, each with status, cost and a link, and costs by route are those of the whole tree',
    async () => {
      const { world } = stage;
      world.script('page-tree:a1', [
        call('agent', { name: 'clerk', prompt: SCRIPT }),
        say(`Audited. ${SCRIPT}`),
      ]);
      world.script('page-tree:a1:a1', [say('Looked.')]);
      const run = await world.start({
        agent: TREE_AGENT,
        runId: 'page-tree',
        replies: [call('agent', { name: 'auditor', prompt: 'Look.' }), say('All done.')],
      });
      const { result } = await world.ended(run);
      const { page, faults, context } = await stage.open('rita', { path: '/runs/page-tree' });
      await page.getByRole('tab', { name: 'Sub-agents' }).click();
      const runs = page.getByRole('table', { name: 'Runs of the tree' });
      await runs.getByText('auditor › clerk').waitFor();
      const rows = await runs.locator('tbody tr').allTextContents();
      expect(rows).toEqual([
        expect.stringMatching(/^page-tree.*completed/),
        expect.stringMatching(/^page-tree:a1.*completed/),
        expect.stringMatching(/^page-tree:a1:a1.*completed/),
      ]);
      const routes = page.getByRole('table', { name: 'Costs by route of the tree' });
      // Two replies of the root, two of the auditor, one of the clerk.
      const [route] = await routes.locator('tbody tr').allTextContents();
      expect(route).toContain('model5');
      const total = (result.costMicroUsd / 1e6).toFixed(4).replace(/0+$/, '');
      expect(route).toContain(total.slice(0, 5));
      await screenshot(page, 'tree');
      await runs.getByRole('link', { name: 'page-tree:a1', exact: true }).click();
      await page.getByRole('heading', { name: 'page-tree:a1' }).waitFor();
      expect(await inPage<string>(page, 'location.pathname')).toBe('/runs/page-tree%3Aa1');
      await page.locator('details.goal summary').click();
      await page.getByRole('link', { name: 'page-tree', exact: true }).waitFor();
      const phone = await stage.open('rita', { path: '/runs/page-tree', phone: true });
      await phone.page.getByRole('tab', { name: 'Sub-agents' }).click();
      await phone.page.getByText('auditor › clerk').waitFor();
      await screenshot(phone.page, 'tree-phone');
      expect(await inPage<boolean>(phone.page, IS_WIDER)).toBe(false);
      expect([faults, phone.faults]).toEqual([[], []]);
      await Promise.all([context.close(), phone.context.close()]);
    },
    LIMIT_MS,
  );
});
