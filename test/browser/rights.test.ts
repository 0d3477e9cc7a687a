/** What the page keeps from whom, and what it makes of hostile declarations; keys and warnings where people press. */
import { z } from 'zod';
import { askPerson, defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { newKey } from '../integration/support/desk.js';
import { call, ofType, openAsk, say } from '../integration/support/world.js';
import { describeInBrowser, inPage, IS_WIDER, screenshot } from './support/browser.js';
import { HOSTILE } from './support/shop.js';
import { setStage, transfer, type Stage } from './support/stage.js';
import { decide, pathTo, waiting } from './support/waiting.js';

const LIMIT_MS = 120_000;
const HOUR_MS = 3_600_000;
const ACTIVE = 'main script, main img, iframe, object, embed, [onerror], [href^="javascript"]';

const payment = (name: string, expiresInMs: number) =>
  defineTool({
    name,
    version: '1',
    effect: 'financial',
    idempotency: 'keyed',
    description: HOSTILE.html,
    input: z.object({
      to: z.string().describe(`${HOSTILE.html} ${HOSTILE.bidi}`),
      amountCents: z.number().describe(HOSTILE.ansi),
      kind: z.enum([HOSTILE.html, 'other']).optional().describe(HOSTILE.zalgo),
    }),
    card: {
      amount: { path: 'amountCents', unit: 'minor', currency: 'EUR' },
      recipient: 'to',
      reference: 'ref',
      labels: { to: '<img src=x onerror="window.hacked=1">', amountCents: 'Amount' },
    },
    approval: { roles: ['manager'], expiresInMs },
    run: () => ({ ref: HOSTILE.html, said: HOSTILE.link }),
  });
const besides = defineConfig({
  agents: [
    defineAgent({
      name: 'hostile',
      model: 'scripted/model',
      instructions: 'Pay.',
      tools: [payment('pay.late', 20 * HOUR_MS), payment('pay.soon', HOUR_MS), askPerson],
    }),
  ],
});

describeInBrowser('the desk of several roles', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({ besides, deciders: ['manager'] });
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const paying = (runId: string, tool: string, amountCents = 1_000) =>
    waiting(stage, runId, {
      agent: 'hostile',
      task: 'Pay.',
      replies: [call(tool, { to: HOSTILE.html, amountCents }), say('Paid.')],
    });

  test(
    'whoever may only answer sees their question, no way to runs, and there what they may do',
    async () => {
      const { run, ask } = await waiting(stage, 'for-clerks', {
        agent: 'hostile',
        task: 'Ask.',
        replies: [call('ask_person', { question: 'Which colour?' }), say('That one.')],
      });
      const { page, faults, context } = await stage.open('clerk', { path: pathTo(ask) });
      const refused: string[] = [];
      page.on('response', (response) => {
        if (response.status() === 403) refused.push(response.url());
      });
      await page.getByRole('article').getByText('Which colour?').first().waitFor();
      expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
        expect.stringContaining('Inbox'),
      ]);
      expect(await page.getByText('Fetching the grounds').count()).toBe(0);
      await page.getByRole('textbox', { name: /answer/i }).fill('blue');
      await page.keyboard.press('Control+Enter');
      await page.getByText('Decided: answered.').waitFor();
      await stage.world.ended(run);
      for (const path of ['/runs', '/runs/for-clerks', '/freezes', '/trail']) {
        await page.goto(`${stage.desk().url}${path}`);
        await page.getByRole('heading', { name: 'Not for your roles' }).waitFor();
        await page.getByText('decide on and answer the questions that are for you').waitFor();
      }
      await screenshot(page, 'not-for-you');
      expect(refused).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'labels, descriptions, choices, results and reasons of freezes stay texts',
    async () => {
      const desk = stage.desk();
      const reason = `${HOSTILE.html} ${HOSTILE.bidi}`;
      const scope = { kind: 'tool', pattern: 'other.*' };
      await desk.post('/v1/freezes', { scope, reason }, { as: 'ann', key: newKey() });
      const { run, ask } = await paying('marked-up', 'pay.late');
      const { page, faults, context } = await stage.open('ann', { path: pathTo(ask) });
      const card = page.getByRole('article');
      await card.getByText('<img src=x onerror="window.hacked=1">').first().waitFor();
      await page.getByRole('button', { name: 'Correct' }).click();
      const form = page.getByRole('form', { name: 'Correct' });
      await form.getByText('Approved by the CFO').first().waitFor();
      await screenshot(page, 'hostile-form');
      expect(await page.locator(ACTIVE).count()).toBe(0);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      const receipt = page.getByRole('status', { name: 'Outcome of the action' });
      await receipt.getByText('Approved by the CFO').first().waitFor();
      await stage.world.ended(run);
      for (const [path, shown] of [
        ['/freezes', 'onerror'],
        ['/trail', 'onerror'],
        ['/runs/marked-up', 'pay.late'],
      ] as const) {
        await page.goto(`${desk.url}${path}`);
        await page.locator('main').getByText(shown).filter({ visible: true }).first().waitFor();
        expect([path, await page.locator(ACTIVE).count()]).toEqual([path, 0]);
        expect([path, await inPage<boolean>(page, IS_WIDER)]).toEqual([path, false]);
      }
      const shown = await page.locator('body').textContent();
      for (const hidden of ['\u202e', '\u200b', '\u001b']) expect(shown).not.toContain(hidden);
      expect(await inPage(page, 'window.hacked')).toBeUndefined();
      // Violations of the page's policy are faults as well.
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'the inbox by expiry, and n for the next question, but not while somebody writes',
    async () => {
      const late = await paying('expires-late', 'pay.late');
      const soon = await paying('expires-soon', 'pay.soon');
      const { page, faults, context } = await stage.open('mia');
      const rows = page.getByRole('list', { name: 'Waiting for a decision' });
      await rows.getByRole('link', { name: /expires-soon/ }).waitFor();
      const runs = async () =>
        (await rows.locator('.row-run').allTextContents()).map((text) => text.trim());
      expect(await runs()).toEqual(['expires-late', 'expires-soon']);
      await page.getByLabel('Order').selectOption('Expiring first');
      expect(await runs()).toEqual(['expires-soon', 'expires-late']);
      await rows.getByRole('link', { name: /expires-soon/ }).click();
      const here = page.locator('.inbox [aria-current="true"]');
      await here.getByText('expires-soon').waitFor();
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByLabel('Why not?').pressSequentially('no, never');
      expect(await page.getByLabel('Why not?').inputValue()).toBe('no, never');
      await page.keyboard.press('Escape');
      await page.keyboard.press('n');
      await here.getByText('expires-late').waitFor();
      await page.getByRole('article').getByText('expires-late').first().waitFor();
      expect(faults).toEqual([]);
      for (const { run } of [late, soon]) await run.interrupt();
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'that a limit does not let the call pass is said where people approve, and then by the receipt',
    async () => {
      const limited = (runId: string, amountCents: number) =>
        waiting(stage, runId, {
          agent: 'bank',
          task: 'Pay the supplier.',
          replies: [transfer('bank.transfer_limited', { amountCents }), say('That is all.')],
        });
      const first = await limited('within', 250_000);
      const second = await limited('beyond', 120_000);
      const { page, faults, context } = await stage.open('rita', { path: pathTo(second.ask) });
      const panel = page.getByRole('region', { name: 'Decide' });
      await panel.getByRole('button', { name: 'Approve', exact: true }).waitFor();
      expect(await panel.getByText('Beyond a limit of the tool').count()).toBe(0);
      expect((await decide(stage, first.ask, { decision: 'approve' })).status).toBe(200);
      await stage.world.ended(first.run);
      // It is said as soon as another call has used the limit up.
      await panel.getByText('Beyond a limit of the tool').waitFor();
      await screenshot(page, 'limit-at-the-button');
      await panel.getByRole('button', { name: 'Approve', exact: true }).click();
      const receipt = page.getByRole('status', { name: 'Outcome of the action' });
      await receipt.getByText('A limit of the tool does not let it pass.').waitFor();
      const { events } = await stage.world.ended(second.run);
      expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'limit_exceeded' }]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'Ctrl+Enter in the field of a budget allows what stands there',
    async () => {
      const run = await stage.world.start({
        runId: 'budget-keys',
        agent: 'bank',
        task: 'Read twice.',
        budget: { maxTurns: 1 },
        settings: { onBudget: 'ask' },
        replies: [call('mail.read', { folder: 'in' }), say('Read.')],
      });
      const ask = await openAsk(run);
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      await page.getByLabel('Allow more:').fill('3');
      await page.keyboard.press('Control+Enter');
      await page.getByText('Decided: approved.').waitFor();
      const { events } = await stage.world.ended(run);
      expect(ofType(events, 'input_provided')).toMatchObject([{ amount: 3 }]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );
});
