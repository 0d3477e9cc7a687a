/** Goals in the page: what they rest on, their charts, what people say to them; by mouse and by keyboard. */
import type { Page } from 'playwright-core';
import { until } from '../integration/support/world.js';
import { barriersOf } from './support/barriers.js';
import { describeInBrowser, inPage, IS_WIDER, screenshot } from './support/browser.js';
import { setGoalStage, type GoalStage } from './support/goal-stage.js';

const LIMIT_MS = 120_000;

describeInBrowser('goals', () => {
  let stage: GoalStage;
  beforeAll(async () => {
    stage = await setGoalStage();
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();

  test(
    'from the list to a goal, and from a step of its plan to the call behind it',
    async () => {
      const { page, faults, context } = await stage.open('/goals');
      const row = page.getByRole('row', { name: /invoices/ });
      await row.getByText('$0.074 of $1.00').or(row.getByText('$0.0740 of $1.00')).waitFor();
      expect(await barriersOf(page)).toEqual([]);
      await row.getByRole('link', { name: 'invoices' }).click();
      await page.getByRole('heading', { name: 'invoices', level: 1 }).waitFor();
      await page.getByText('Nothing is paid.', { exact: true }).waitFor();
      await page.getByText('a cycle every 1 d').waitFor();
      await screenshot(page, 'goal');
      const step = page.getByRole('row', { name: /List the open invoices/ });
      await step.getByRole('link', { name: 'c1/look' }).click();
      await page.getByRole('heading', { name: 'c1/look' }).waitFor();
      await page.getByText('books.read').waitFor();
      await page.getByText('{"open":12}').or(page.getByText('12')).first().waitFor();
      await page.getByRole('link', { name: 'invoices:c1' }).waitFor();
      expect(await barriersOf(page)).toEqual([]);
      await page.goto(`${stage.url}/goals/invoices/evidence/c1%2Fwrite`);
      await page.getByRole('heading', { name: 'Row of the ledger' }).waitFor();
      await page.goto(`${stage.url}/goals/invoices/evidence/c9%2Fnone`);
      await page.getByText('No evidence of this goal has this id.').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'charts have their tables, reviews six answers, cycles their runs and briefs; no tab keeps anybody out',
    async () => {
      const visitor = await stage.open('/goals/invoices');
      const { page, faults, context } = visitor;
      await tab(page, 'Charts');
      const money = page.getByRole('table', { name: 'Money' });
      await money.getByRole('row').nth(4).waitFor();
      expect(await money.getByRole('row').nth(1).allInnerTexts()).toEqual([
        expect.stringMatching(/\$0\.0740\s+\$1\.00/),
      ]);
      await page.getByRole('img', { name: /Check open_invoices: 3 points/ }).waitFor();
      // Drawn, and with lines that differ in more than their colour.
      expect(await inPage(page, `document.querySelectorAll('.chart canvas').length`)).toBe(2);
      expect(
        await inPage(
          page,
          `[...document.querySelectorAll('.chart-lines path[stroke]')].slice(0, 2).map((line) => line.getAttribute('stroke-dasharray'))`,
        ),
      ).toEqual(['', '6 4']);
      expect(await barriersOf(page)).toEqual([]);
      await screenshot(page, 'goal-charts-dark');
      await page.emulateMedia({ colorScheme: 'light' });
      await screenshot(page, 'goal-charts');
      await tab(page, 'Reviews');
      const review = page.getByRole('tabpanel', { name: 'Reviews' });
      expect(await review.getByRole('row').count()).toBe(7);
      await review.getByRole('link', { name: 'check/open_invoices/2' }).waitFor();
      expect(await barriersOf(page)).toEqual([]);
      await tab(page, 'Log');
      await page.getByText('rita: Start with the oldest.').waitFor();
      await tab(page, 'Cycles');
      await page.getByRole('link', { name: 'invoices:c2' }).waitFor();
      expect(await barriersOf(page)).toEqual([]);
      await page.getByRole('link', { name: 'Brief of cycle 1' }).click();
      await page.getByText('Supplier 17 pays late.').waitFor();
      expect(await barriersOf(page)).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'by keyboard alone: steering, pausing, a new budget, stopping after a second thought; each says what came of it',
    async () => {
      const { page, faults, context } = await stage.open('/goals/invoices');
      const { keyboard } = page;
      await page.getByRole('heading', { name: 'invoices', level: 1 }).waitFor();
      await page.locator('summary', { hasText: 'Steer it' }).focus();
      await keyboard.press('Enter');
      await keyboard.press('Tab');
      await keyboard.type('Leave supplier 17 out.');
      await keyboard.press('Tab');
      await keyboard.press('Space');
      await keyboard.press('Tab');
      await keyboard.press('Enter');
      await page.getByText('The word stands in the brief of the next cycle.').waitFor();
      await keyboard.press('Tab');
      await keyboard.press('Enter');
      await page.getByText('The goal pauses when its open cycle has ended.').waitFor();
      await page.getByLabel('New budget in all, in $').focus();
      await keyboard.type('2.50');
      await keyboard.press('Enter');
      await page.getByText('The budget is $2.50 in all.').waitFor();
      expect(await barriersOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Stop …' }).focus();
      await keyboard.press('Enter');
      await page.getByText('The goal ends as interrupted.').waitFor();
      expect(stage.told.map(({ said }) => said)).not.toContain('stop');
      await keyboard.press('Enter');
      await page.getByText('The goal is being stopped.').waitFor();
      expect(stage.told).toEqual([
        { said: 'steer', args: ['Leave supplier 17 out.'] },
        { said: 'pause', args: [] },
        { said: 'setBudget', args: [{ maxCostMicroUsd: 2_500_000 }] },
        { said: 'stop', args: [] },
      ]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a cycle is approved on the page of its goal, where its brief is a link away; the page follows what happens',
    async () => {
      const { page, faults, context } = await stage.open('/goals/invoices', { phone: true });
      const ask = page.getByRole('region', { name: 'The goal asks' });
      await ask.getByText('Start cycle 3 of the goal?').waitFor();
      await ask.getByText('money $0.10').waitFor();
      expect(await ask.getByRole('link', { name: 'Brief of cycle 3' }).getAttribute('href')).toBe(
        `/goals/invoices/briefs/3/${'b'.repeat(64)}`,
      );
      expect(await page.getByRole('button', { name: 'Correct …' }).count()).toBe(0);
      expect(await inPage(page, IS_WIDER)).toBe(false);
      expect(await barriersOf(page)).toEqual([]);
      await screenshot(page, 'goal-asks-phone');
      await ask.getByRole('button', { name: 'Approve' }).focus();
      await page.keyboard.press('Enter');
      await until('the decision', async () =>
        stage.told.some(({ said }) => said === 'approved') ? true : undefined,
      );
      await ask.waitFor({ state: 'detached' });
      await tab(page, 'Events');
      const types = page.getByRole('combobox', { name: 'Type of event' });
      await types
        .locator('option', { hasText: 'approval_resolved' })
        .waitFor({ state: 'attached' });
      await page.goto(`${stage.url}/inbox/invoices%3Ag1`);
      await page.getByRole('heading', { name: 'Cycle 3 of a goal' }).waitFor();
      await page.getByText('The goal goes on, or ends, by a person’s word.').waitFor();
      expect(await page.getByText('stands in the task').count()).toBe(0);
      expect(await barriersOf(page)).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );
});
