/** A request of a long conversation on the page of a run: little of it is fetched until somebody wants more. */
import { call, say, until } from '../integration/support/world.js';
import { barriersOf } from './support/barriers.js';
import { describeInBrowser } from './support/browser.js';
import { setStage, type Stage } from './support/stage.js';

const LIMIT_MS = 120_000;

describeInBrowser('a request of a long conversation', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
    await stage.world.ended(await stage.world.start(LONG));
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const LONG = {
    runId: 'long',
    agent: 'bank',
    task: 'Read the mail.',
    replies: [
      ...['one', 'two', 'three', 'four'].map((folder) => call('mail.read', { folder })),
      say('Read.'),
    ],
  };
  const MESSAGES = 9;

  test(
    'of a long conversation the newest messages are fetched, and more of it when somebody wants that',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/runs/long' });
      const asked: string[] = [];
      page.on('request', (request) => {
        const [, query] = /\/v1\/runs\/long\/steps\/\d+(.*)$/.exec(request.url()) ?? [];
        if (query !== undefined && !query.includes('ahead')) asked.push(query);
      });
      await page.getByRole('tab', { name: 'Steps' }).click();
      await page.getByRole('heading', { name: `Messages (${MESSAGES})` }).waitFor();
      const messages = page.locator('.messages > li');
      expect([await messages.count(), asked]).toEqual([6, ['?messages=6']]);
      await page.getByRole('button', { name: 'Show earlier ones (3)' }).click();
      await page.getByRole('button', { name: /^Show earlier ones/ }).waitFor({ state: 'detached' });
      expect([await messages.count(), asked]).toEqual([MESSAGES, ['?messages=6', '?messages=106']]);
      await page.getByRole('heading', { name: `Messages (${MESSAGES})` }).waitFor();
      const exact = page.locator('details', { hasText: 'The request as it was made' });
      await exact.locator('summary').click();
      await exact.getByText('"Read the mail."').waitFor();
      expect(asked).toHaveLength(2);
      expect(await barriersOf(page)).toEqual([]);
      // Each step begins with little again.
      await page.getByRole('button', { name: '← Previous' }).click();
      await page.getByRole('button', { name: 'Show earlier ones (3)' }).waitFor();
      expect(await messages.count()).toBe(6);
      await exact.locator('summary').click();
      await exact.getByText('"Read the mail."').waitFor();
      // The step may have been there before.
      expect(asked.slice(2).filter((query) => query !== '?messages=6')).toEqual(['']);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'more of a conversation that cannot be fetched is told where it was wanted, and can be wanted again',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/runs/long' });
      await page.getByRole('tab', { name: 'Steps' }).click();
      const earlier = page.getByRole('button', { name: 'Show earlier ones (3)' });
      await earlier.waitFor();
      const refuse = (detail: string) =>
        page.route(/\/steps\/\d+(\?messages=106)?$/, (route) =>
          route.fulfill({ status: 403, json: { status: 403, code: 'forbidden', detail } }),
        );
      await refuse('Not now.');
      await earlier.click();
      await page.getByRole('alert').getByText('Not now.').waitFor();
      const exact = page.locator('details', { hasText: 'The request as it was made' });
      await exact.locator('summary').click();
      await exact.getByRole('alert').getByText('Not now.').waitFor();
      expect(await page.locator('.messages > li').count()).toBe(6);
      expect(await barriersOf(page)).toEqual([]);
      await page.unroute(/\/steps\/\d+(\?messages=106)?$/);
      // What is told may be why there is no more of it.
      const missing = { missing: 'Too large.' };
      await page.route(/\/steps\/\d+\?messages=106$/, (route) =>
        route.fulfill({ json: { request: missing, answered: missing } }),
      );
      await earlier.click();
      await page.getByRole('alert').getByText('Too large.').waitFor();
      await page.unroute(/\/steps\/\d+\?messages=106$/);
      await exact.getByRole('button', { name: 'Try again' }).click();
      await exact.getByText('"Read the mail."').waitFor();
      await earlier.click();
      await page.getByText('Too large.').first().waitFor({ state: 'detached' });
      await earlier.waitFor({ state: 'detached' });
      expect(await page.locator('.messages > li').count()).toBe(MESSAGES);
      // The browser's own word on each refused request.
      expect(faults.filter((fault) => !fault.includes('403'))).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test.each([
    ['refuses', 400],
    ['passes over', 200],
  ])(
    'a desk of an older release, which %s the wish for a part, is shown as before',
    async (_, status) => {
      const { page, context } = await stage.open('rita', { path: '/' });
      let asked = 0;
      await page.route(/\/steps\/\d+/, async (route) => {
        const [url, query] = route.request().url().split('?');
        if (query?.includes('ahead') !== true) asked += 1;
        if (query === undefined || status === 200) await route.continue({ url: url! });
        else await route.fulfill({ status, json: { status, code: 'invalid', detail: 'No.' } });
      });
      await page.goto(`${page.url().replace(/\/[^/]*$/, '')}/runs/long`);
      await page.getByRole('tab', { name: 'Steps' }).click();
      await page.getByRole('button', { name: 'Show earlier ones (3)' }).click();
      await page.getByRole('heading', { name: `Messages (${MESSAGES})` }).waitFor();
      expect(await page.locator('.messages > li').count()).toBe(MESSAGES);
      expect(asked).toBe(status === 200 ? 1 : 2);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'the steps beside one are there before somebody goes to them, and an older desk is asked for none twice',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/' });
      const asked: (readonly [step: number, query: string])[] = [];
      let isOld = false;
      await page.route(/\/v1\/.*\/steps\/\d+/, async (route) => {
        const [, step, query = ''] = /(\d+)\?(.*)$/.exec(route.request().url()) ?? [];
        asked.push([Number(step), query]);
        const refused = { status: 400, code: 'invalid', detail: 'No.' };
        if (isOld && query.includes('ahead')) await route.fulfill({ status: 400, json: refused });
        else await route.continue();
      });
      const look = (step: number) =>
        page.goto(`${new URL(page.url()).origin}/runs/long/steps/${step}`);
      const step = (number: number) =>
        page.getByRole('region', { name: `Step ${number}`, exact: true }).waitFor();
      const press = (name: string) => page.getByRole('button', { name }).click();
      const now = 'messages=6';
      const ahead = 'messages=6&ahead=true';
      const are = (expected: typeof asked) =>
        until('requests', () => asked.length >= expected.length || undefined).then(() =>
          expect(asked).toEqual(expected),
        );
      await look(5);
      await step(5);
      await are([
        [5, now],
        [6, ahead],
        [4, ahead],
      ]);
      await press('Next →');
      await step(6);
      await page.waitForURL(/\/steps\/6$/);
      await are([
        [5, now],
        [6, ahead],
        [4, ahead],
        [7, ahead],
      ]);
      isOld = true;
      asked.length = 0;
      await look(5);
      await step(5);
      await are([
        [5, now],
        [6, ahead],
      ]);
      await press('← Previous');
      await step(4);
      await are([
        [5, now],
        [6, ahead],
        [4, now],
      ]);
      expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );
});
