/** Every view, opened and looked over for what keeps people out. */
import type { Page } from 'playwright-core';
import { TENANT } from '../../client/runs/execution.js';
import { eventsFrom, SESSION_INIT } from '../store/fixtures.js';
import { call, openAsk, say } from '../integration/support/world.js';
import { newKey } from '../integration/support/desk.js';
import { barriersOf } from './support/barriers.js';
import { describeInBrowser, type Visitor } from './support/browser.js';
import { LOST } from './support/shop.js';
import { REFUND, setStage, transfer, type Stage } from './support/stage.js';
import { decide, pathTo, storedAsk, waiting, type Waiting } from './support/waiting.js';

const LIMIT_MS = 180_000;

describeInBrowser('without barriers', () => {
  let stage: Stage;
  let lost: Promise<Waiting>;
  beforeAll(async () => {
    stage = await setStage();
    lost = lostPayment();
    // Whoever waits for it later is told.
    lost.catch(() => {});
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const runThatAsks = (runId: string, start: Parameters<typeof waiting>[2]) =>
    waiting(stage, runId, start);

  async function lostPayment(): Promise<Waiting> {
    const { run, ask } = await runThatAsks('lost', {
      agent: 'bank',
      task: 'Pay the supplier.',
      replies: [transfer('bank.transfer_lost', { note: LOST.before }), say('That is all.')],
    });
    await decide(stage, ask, { decision: 'approve' });
    return { run, ask: await storedAsk(stage, run) };
  }

  async function looksClean({ page, faults }: Visitor, view: string): Promise<void> {
    expect([view, await barriersOf(page)]).toEqual([view, []]);
    expect([view, faults]).toEqual([view, []]);
  }

  const goTo = (page: Page, path: string) => page.goto(`${stage.desk().url}${path}`);
  const press = (page: Page, name: string | RegExp) =>
    page.getByRole('region', { name: 'Decide' }).getByRole('button', { name }).first().click();

  test(
    'before and around the inbox: login, no access, nothing there, the menu, the desk away',
    async () => {
      const stranger = await stage.open('rita', { token: 'hf_service_wrong' });
      await stranger.page.getByLabel('Token').waitFor();
      await looksClean(stranger, 'login');
      await stranger.context.close();
      const nobody = await stage.open('nobody');
      await nobody.page.getByRole('heading', { name: 'No access' }).waitFor();
      await looksClean(nobody, 'no access');
      await nobody.context.close();
      const rita = await stage.open('rita', { path: '/nowhere' });
      const { page } = rita;
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      await looksClean(rita, 'no such page');
      await goTo(page, '/inbox/nothing:0');
      await page.getByText('Back to the inbox').waitFor();
      await looksClean(rita, 'no such question');
      await goTo(page, '/runs/nothing');
      await page.getByText('All runs').waitFor();
      await looksClean(rita, 'no such run');
      // In local development the menu says as whom to act.
      await page.route('**/v1/me', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), via: 'local' } });
      });
      await goTo(page, '/runs');
      await page.getByRole('heading', { name: 'Runs' }).waitFor();
      await page.getByText('rita').first().click();
      const name = page.getByLabel('Act as', { exact: true });
      const isTaken = async (text: string) => {
        await name.fill(text);
        return name.evaluate((field: HTMLInputElement) => field.checkValidity());
      };
      expect(await isTaken('Ωλ 株')).toBe(true);
      expect(await isTaken('a\u202eb')).toBe(false);
      await name.fill('');
      await looksClean(rita, 'the menu of the person');
      await page.route('**/v1/**', (route) => route.abort());
      await page.getByText('The desk does not answer.').waitFor();
      await looksClean(rita, 'the desk away');
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await rita.context.close();
    },
    LIMIT_MS,
  );

  test(
    'the inbox and the cards of approvals: sources, corrections, votes, limits, a freeze, every form',
    async () => {
      const rita = await stage.open('bob');
      await rita.page.getByText('Nothing waits.').waitFor();
      await looksClean(rita, 'an empty inbox');
      await goTo(rita.page, '/runs');
      await rita.page.getByText('No run yet.').waitFor();
      await looksClean(rita, 'no run');
      await rita.context.close();

      const { ask, run } = await runThatAsks('card', {
        ...REFUND,
        settings: { allowStandingGrants: true },
      });
      const visitor = await stage.open('rita');
      const { page } = visitor;
      await page.getByRole('link', { name: /payments\.issue_refund/ }).waitFor();
      await looksClean(visitor, 'the inbox');
      await page.getByRole('searchbox').fill('nothing fits this');
      await page.getByText('Nothing found').waitFor();
      await looksClean(visitor, 'a search without result');
      await goTo(page, pathTo(ask));
      await page.locator('.source summary').first().click();
      await page.getByText('As JSON').click();
      await page.getByRole('button', { name: /more like it/ }).waitFor();
      await looksClean(visitor, 'an approval');
      await press(page, /Correct/);
      await page.getByLabel('amountCents').fill('1');
      await looksClean(visitor, 'correcting');
      await press(page, 'Send the correction');
      await page.getByText('a difference of more than a factor of two').waitFor();
      await looksClean(visitor, 'an amount that is asked about once more');
      await press(page, 'Change it');
      await page.getByLabel('Edit as JSON').check();
      await page.getByLabel('Arguments as JSON').fill('{');
      await press(page, 'Send the correction');
      await page.getByText('That is no JSON.').waitFor();
      await looksClean(visitor, 'correcting as JSON');
      await press(page, 'Back');
      await press(page, /Reject/);
      await page.getByLabel('Why not?').fill('Not late.');
      await looksClean(visitor, 'rejecting');
      // Going to the content drops nothing that somebody has begun.
      await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
      await page.locator('main:focus').waitFor();
      expect(await page.getByLabel('Why not?').inputValue()).toBe('Not late.');
      await press(page, 'Back');
      await press(page, /more like it/);
      await page.getByLabel('amountCents', { exact: true }).selectOption('at most');
      await looksClean(visitor, 'a standing grant');
      await press(page, /Look it over/);
      await page.getByText('A standing grant cannot be taken back.').waitFor();
      await looksClean(visitor, 'confirming a standing grant');
      await press(page, 'Change it');
      await press(page, 'Back');
      await press(page, /^Approve$/);
      await page.getByText('Decided: approved.').waitFor();
      await page.getByText('This question is approved.').waitFor();
      await looksClean(visitor, 'a closed question');
      // The outcome scrolls there.
      await page.setViewportSize({ width: 390, height: 320 });
      await looksClean(visitor, 'a closed question on a low screen');
      await stage.world.ended(run);
      await visitor.context.close();
    },
    LIMIT_MS,
  );

  test(
    'cards with votes, a correction, limits, what was done before, and a freeze; small, too',
    async () => {
      const pay = { agent: 'bank', task: 'Pay the supplier.' };
      const quorum = await runThatAsks('quorum', {
        ...pay,
        replies: [transfer('bank.transfer'), say('Paid.')],
      });
      const args = { recipient: 'DE02', amountCents: 99_000, currency: 'EUR' };
      await decide(stage, quorum.ask, { decision: 'modify', args, reason: 'As invoiced.' });
      const corrected = await storedAsk(stage, quorum.run);
      const replies = [transfer('bank.transfer_limited'), say('Paid.')];
      const first = await runThatAsks('limits-1', { ...pay, replies });
      await decide(stage, first.ask, { decision: 'approve' });
      await stage.world.ended(first.run);
      const second = await runThatAsks('limits-2', { ...pay, replies });
      const frozen = await stage
        .desk()
        .post(
          '/v1/freezes',
          { scope: { kind: 'tool', pattern: 'bank.*' }, reason: 'Being looked at.' },
          { as: 'rita', key: newKey() },
        );
      const visitor = await stage.open('rolf', { path: pathTo(corrected) });
      const { page } = visitor;
      await page.getByRole('heading', { name: 'Corrected' }).waitFor();
      await page.getByText('1 of 2 approved').waitFor();
      await looksClean(visitor, 'a corrected approval');
      await goTo(page, pathTo(second.ask));
      await page.getByRole('heading', { name: 'This was done before' }).waitFor();
      await page.getByText('An approval does not let the call pass while').waitFor();
      await looksClean(visitor, 'limits, what was done before, a freeze');
      await page.setViewportSize({ width: 390, height: 844 });
      await looksClean(visitor, 'the same on a phone');
      await goTo(page, '/freezes');
      await page.getByRole('button', { name: 'Lift …' }).click();
      await looksClean(visitor, 'freezes on a phone, lifting one');
      await page.setViewportSize({ width: 1360, height: 860 });
      await looksClean(visitor, 'freezes, lifting one');
      await goTo(page, pathTo(quorum.ask));
      await page.getByRole('link', { name: 'The question about it now' }).waitFor();
      await looksClean(visitor, 'a question that was corrected');
      await goTo(page, '/');
      await page.getByLabel('State').selectOption('Past decisions');
      await page.getByLabel('Order').selectOption('Largest amount first');
      await page.getByRole('list', { name: 'Past decisions' }).getByRole('link').first().waitFor();
      await looksClean(visitor, 'past decisions');
      const auditor = await stage.open('ann', { path: '/trail' });
      await auditor.page.getByRole('button', { name: 'Verify the trail' }).click();
      await auditor.page.getByText(/^Unbroken: /).waitFor();
      await looksClean(auditor, 'the audit trail');
      await auditor.page.setViewportSize({ width: 390, height: 844 });
      await looksClean(auditor, 'the audit trail on a phone');
      await auditor.context.close();
      await stage
        .desk()
        .post(`/v1/freezes/${String(frozen.body?.['id'])}/lift`, {}, { as: 'rita' });
      await Promise.all([quorum.run.interrupt(), second.run.interrupt()]);
      await visitor.context.close();
    },
    LIMIT_MS,
  );

  test(
    'the cards of unknown outcomes, budgets and questions, with their forms',
    async () => {
      const asked = await runThatAsks('asked', {
        agent: 'bank',
        task: 'Ask first.',
        replies: [
          call('ask_person', { question: 'Which colour?', choices: ['blue', 'red'] }),
          say('Blue.'),
          say('Done.'),
        ],
        budget: { maxTurns: 1 },
        settings: { onBudget: 'ask' },
      });
      const visitor = await stage.open('rita', { path: pathTo(asked.ask) });
      const { page } = visitor;
      await page.getByRole('textbox', { name: /answer/i }).fill('blue');
      await looksClean(visitor, 'a question of the model');
      await press(page, 'Answer');
      await page.getByText('This question is answered.').waitFor();
      const budget = await storedAsk(stage, asked.run);
      await goTo(page, pathTo(budget));
      await page.getByRole('heading', { name: 'More turns?' }).waitFor();
      await page.getByRole('heading', { name: 'Why it is asked' }).waitFor();
      await looksClean(visitor, 'a budget');
      const { ask, run } = await lost;
      await goTo(page, pathTo(ask));
      await page.getByRole('heading', { name: 'The attempt' }).waitFor();
      await looksClean(visitor, 'an unknown outcome');
      await press(page, /The call happened/);
      await looksClean(visitor, 'saying that it happened');
      await press(page, 'Back');
      await press(page, 'The call did not happen');
      await page.getByText('may then happen twice').waitFor();
      await looksClean(visitor, 'saying that it did not happen');
      await press(page, 'Back');
      await press(page, 'Stop the run');
      await looksClean(visitor, 'stopping the run');
      await Promise.all([run.interrupt(), asked.run.interrupt()]);
      await visitor.context.close();
    },
    LIMIT_MS,
  );

  test(
    'runs, and the page of a run: its steps, its conversation, its events, its grants, its end',
    async () => {
      const { world } = stage;
      const run = await world.start({
        runId: 'run',
        ...REFUND,
        task: REFUND.task.replaceAll('O-104', 'O-102'),
        replies: [
          ...REFUND.replies.slice(0, 2),
          [{ status: 529, errorType: 'overloaded_error' }, REFUND.replies[2]],
          call('payments.issue_refund', { orderId: 'O-102', amountCents: 590, reason: 'Late.' }),
          call('payments.issue_refund', { orderId: 'O-103', amountCents: 1, reason: 'Late.' }),
          call('payments.issue_refund', { orderId: 'O-103', amountCents: 2, reason: 'Other.' }),
          say('We have refunded the shipping.'),
        ],
        settings: { allowStandingGrants: true, requireProof: true },
      });
      const ask = await openAsk(run);
      const visitor = await stage.open('rita', { path: '/runs/run' });
      const { page } = visitor;
      await page.getByText('The run waits for approval of').waitFor();
      await page.locator('progress').first().waitFor();
      await page.getByText('Write to it, or stop it').click();
      await page.getByRole('button', { name: 'Interrupt …' }).click();
      await looksClean(visitor, 'a run that waits, with its controls');
      await page.getByRole('tab', { name: 'Conversation' }).click();
      await page.locator('.message.results').first().waitFor();
      await looksClean(visitor, 'its conversation so far');
      const when = [{ path: 'reason', equals: 'Late.' }];
      const grant = { uses: 2, expiresInMs: 3_600_000, matcher: { tool: ask.tool, when } };
      await decide(stage, ask, { decision: 'approve', grant });
      await goTo(page, '/runs/run');
      await page.getByRole('region', { name: 'Standing grants' }).waitFor();
      await looksClean(visitor, 'a run with a standing grant');
      await decide(stage, await storedAsk(stage, run), { decision: 'approve' });
      await world.ended(run);
      await goTo(page, '/runs/run');
      await page.getByRole('region', { name: 'Result' }).waitFor();
      // The conversation was open before, and is so again.
      await page.getByRole('tab', { name: 'Timeline' }).click();
      await page.locator('.overview .bar').first().waitFor();
      await page.getByText('goes ahead by a standing grant').waitFor();
      await page.locator('.folded summary').first().click();
      await page.locator('.goal summary').click();
      await looksClean(visitor, 'a run that has ended');
      await page.getByRole('tab', { name: 'Conversation' }).click();
      await page.locator('.message.results').first().waitFor();
      await looksClean(visitor, 'its conversation');
      await page.getByRole('tab', { name: 'Events' }).click();
      await page.locator('.events summary').first().click();
      await looksClean(visitor, 'its events');
      await goTo(page, '/runs');
      await page.getByRole('link', { name: 'run', exact: true }).waitFor();
      await looksClean(visitor, 'runs');
      await page.getByLabel('Agent').fill('nobody of this name');
      await page.getByText('No run fits.').waitFor();
      await looksClean(visitor, 'no run that fits');
      await page.getByLabel('Agent').fill('');
      await page.getByRole('link', { name: 'run', exact: true }).waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      await looksClean(visitor, 'runs on a phone');
      await visitor.context.close();
    },
    LIMIT_MS,
  );

  test(
    'the page of a run while its model speaks, and while no worker is there',
    async () => {
      const { world } = stage;
      await world.start({
        runId: 'live',
        agent: 'bank',
        task: 'Tell the customer.',
        replies: [{ ...say('We are sorry. '.repeat(20)), chunks: 100, chunkDelayMs: 200 }],
        settings: { includePartialMessages: true },
      });
      const visitor = await stage.open('rita', { path: '/runs/live' });
      const { page } = visitor;
      await page.getByRole('region', { name: 'The model’s words now' }).waitFor();
      await looksClean(visitor, 'a run whose model speaks');
      const alone = await world.raw.workflow.start('agentRun', {
        taskQueue: 'nobody-serves-this',
        workflowId: 'alone',
        args: [],
        typedSearchAttributes: [{ key: TENANT, value: 'default' }],
      });
      const source = { tenant: 'default', runId: 'alone', execution: alone.firstExecutionRunId };
      await world.store.appendEvents(source, eventsFrom(0, [SESSION_INIT]));
      await goTo(page, '/runs/alone');
      await page.locator('.waits .notice').waitFor();
      await looksClean(visitor, 'a run that waits for a worker');
      await alone.terminate();
      await visitor.context.close();
    },
    LIMIT_MS,
  );
});
