/** Goals in the page: what they rest on, their charts, what people say to them; by mouse and by keyboard. */
import type { Page } from 'playwright-core';
import { STEPS } from '../console/stored-goal.js';
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
      await page.getByText('a cycle every 1 d', { exact: true }).waitFor();
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
      // The trail names goals and runs alike.
      await page.goto(`${stage.url}/runs/invoices`);
      await page.getByRole('link', { name: 'The goal' }).click();
      await page.getByRole('heading', { name: 'invoices', level: 1 }).waitFor();
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
    'by keyboard alone: another plan; one that others have changed meanwhile is told, and nothing that was typed is lost',
    async () => {
      const { page, faults, context } = await stage.open('/goals/invoices');
      const { keyboard } = page;
      const from = stage.told.length;
      const focused = () => inPage(page, `document.activeElement.getAttribute('aria-label')`);
      await page.getByRole('button', { name: 'Change the plan …' }).focus();
      await keyboard.press('Enter');
      await until('the first title', async () =>
        (await focused()) === 'Title of step 1' ? true : undefined,
      );
      expect(await barriersOf(page)).toEqual([]);
      // To the last step's title: each row has five places.
      for (let press = 0; press < 10; press += 1) await keyboard.press('Tab');
      expect(await focused()).toBe('Title of step 3');
      await keyboard.press('End');
      await keyboard.type(' by letter');
      for (let press = 0; press < 2; press += 1) await keyboard.press('Tab');
      expect(await focused()).toBe('Move step 3 up');
      await keyboard.press('Enter');
      await until('the step one up', async () =>
        (await focused()) === 'Move step 2 up' ? true : undefined,
      );
      for (let press = 0; press < 8; press += 1) await keyboard.press('Tab');
      await keyboard.press('Enter');
      await until('the new step', async () =>
        (await focused()) === 'Title of step 4' ? true : undefined,
      );
      await keyboard.press('Enter');
      await page.getByText('Step 4 has no title.').waitFor();
      expect(await focused()).toBe('Title of step 4');
      await keyboard.type('Close the books');
      await screenshot(page, 'goal-plan');
      await stage.replan({
        revision: 4,
        steps: [...STEPS, { id: 'theirs', title: 'Tell supplier 17', status: 'open', by: 'agent' }],
      });
      await keyboard.press('Enter');
      await page.getByText('The plan has changed since you looked at it.').waitFor();
      await page.getByText('On revision 4 of the plan.').waitFor();
      const titles = () =>
        inPage(page, `[...document.querySelectorAll('.plan-row input')].map(({ value }) => value)`);
      expect(await titles()).toEqual([
        'List the open invoices',
        'Ask about the rest by letter',
        'Match them with payments',
        'Close the books',
        'Tell supplier 17',
      ]);
      expect(await barriersOf(page)).toEqual([]);
      expect(stage.told).toHaveLength(from);
      await keyboard.press('Enter');
      await page.getByText('The plan is set.').waitFor();
      const { said, args } = stage.told.at(-1)!;
      expect(said).toBe('setPlan');
      expect(args[0]).toMatchObject([
        { id: 'list', status: 'done' },
        { id: 'rest', title: 'Ask about the rest by letter' },
        { id: 'match', note: 'Five are matched.' },
        { title: 'Close the books', status: 'open' },
        { id: 'theirs' },
      ]);
      await until('the button that opens it', async () =>
        (await inPage(page, 'document.activeElement.textContent')) === 'Change the plan …'
          ? true
          : undefined,
      );
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a plan that nobody knows of whether it counts stays typed until the goal has it; so does one while the goal ends',
    async () => {
      const { page, faults, context } = await stage.open('/goals/invoices');
      await page.route('**/plan', (route) =>
        route.fulfill({
          status: 202,
          json: { goalId: 'invoices', messageId: 'm1', state: 'sent' },
        }),
      );
      const titles = () =>
        inPage(page, `[...document.querySelectorAll('.plan-row input')].map(({ value }) => value)`);
      await page.getByRole('button', { name: 'Change the plan …' }).click();
      await page.getByLabel('Title of step 1').fill('List them all');
      await page.getByRole('button', { name: 'Set the plan' }).click();
      await page.getByText('Your changes stay here until the goal has them.').waitFor();
      const now = stage.view!.plan.revision;
      // Somebody else's plan came first.
      await stage.replan({ revision: now + 1, steps: STEPS.slice(0, 2) });
      await page.getByText('The plan has changed since you looked at it.').waitFor();
      expect(await titles()).toEqual(['List them all', 'Match them with payments']);
      await page.getByRole('button', { name: 'Set the plan' }).click();
      await page.getByText('Your changes stay here until the goal has them.').waitFor();
      const [first, second] = STEPS;
      const steps = [{ ...first!, title: 'List them all' }, second!];
      await stage.replan({ revision: now + 2, steps });
      await page.getByText('The plan is set.').waitFor();
      expect(await titles()).toEqual([]);
      await page.getByRole('button', { name: 'Change the plan …' }).click();
      await page.getByLabel('Title of step 2').fill('Match by hand');
      await page.route('**/v1/goals/invoices', async (route) => {
        const json = (await (await route.fetch()).json()) as object;
        await route.fulfill({ json: { ...json, status: 'stopped' } });
      });
      await stage.replan({ revision: now + 3, steps });
      await page.getByText('The goal has ended: its plan does not change any more.').waitFor();
      expect(await titles()).toEqual(['List them all', 'Match by hand']);
      expect(await page.getByRole('button', { name: 'Set the plan' }).count()).toBe(0);
      expect(await barriersOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Leave it as it was' }).click();
      expect(await page.getByRole('button', { name: 'Change the plan …' }).count()).toBe(0);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'by keyboard alone: another pace; what is wrong with one is said by the page or by the goal, and stays to be corrected',
    async () => {
      const { page, faults, context } = await stage.open('/goals/invoices', { phone: true });
      const { keyboard } = page;
      await page.locator('summary', { hasText: 'Steer it' }).focus();
      await keyboard.press('Enter');
      const kind = page.getByLabel('Cycles begin');
      await kind.focus();
      expect(await kind.inputValue()).toBe('every');
      await keyboard.press('Tab');
      await keyboard.press('Control+A');
      await keyboard.type('soon');
      await keyboard.press('Enter');
      await page.getByText('How many days lie between two cycles?').waitFor();
      await keyboard.press('Control+A');
      await keyboard.type('6');
      await keyboard.press('Tab');
      await keyboard.type('h');
      await page.getByRole('button', { name: 'Set the pace' }).focus();
      await keyboard.press('Enter');
      await page.getByText('From now on: a cycle every 6 h.').waitFor();
      expect(stage.told.at(-1)).toEqual({ said: 'setPace', args: [{ everyMs: 21_600_000 }] });
      await kind.focus();
      await keyboard.type('at times');
      const line = page.getByLabel('Cron line');
      await line.focus();
      await keyboard.type('0 25 * * 1-5');
      await keyboard.press('Tab');
      await keyboard.press('Control+A');
      await keyboard.type('Europe/Zurich');
      await keyboard.press('Enter');
      // Only the goal's side knows which hours there are.
      await page.getByText(/pace\.cron cannot be used.*25/).waitFor();
      expect(await line.inputValue()).toBe('0 25 * * 1-5');
      expect(await barriersOf(page)).toEqual([]);
      expect(await inPage(page, IS_WIDER)).toBe(false);
      await screenshot(page, 'goal-pace-phone');
      await line.focus();
      await keyboard.press('Control+A');
      await keyboard.type('0 9 * * 1-5');
      await keyboard.press('Enter');
      await page.getByText('From now on: a cycle at 0 9 * * 1-5 (Europe/Zurich).').waitFor();
      expect(stage.told.at(-1)).toEqual({
        said: 'setPace',
        args: [{ cron: '0 9 * * 1-5', timezone: 'Europe/Zurich' }],
      });
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
      expect((await ask.innerText()).replace(/\s+/g, ' ')).toContain(
        'Not by paula, who started the goal, nor by carla, who said something to it since its last cycle.',
      );
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
