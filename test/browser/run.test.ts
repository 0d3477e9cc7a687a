/** The page of a run in a real browser: as it happens, over restarts of everything, and at its end. */
import { TENANT } from '../../client/runs/execution.js';
import { eventsFrom, SESSION_INIT } from '../store/fixtures.js';
import { newKey } from '../integration/support/desk.js';
import { call, openAsk, say, until } from '../integration/support/world.js';
import { describeInBrowser, inPage, IS_WIDER, screenshot } from './support/browser.js';
import { REFUND, setStage, transfer, type Stage } from './support/stage.js';

const LIMIT_MS = 150_000;
const LONG = 'We are sorry that your order reached you so late, and have refunded the full amount.';

describeInBrowser('the page of a run', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({ worker: false, ownServer: true });
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  test(
    'restarts of worker, console and server: it says so quietly, comes back and misses nothing',
    async () => {
      const { world } = stage;
      const first = await stage.spawnWorker();
      const run = await world.start({ runId: 'restarts', ...REFUND });
      const ask = await openAsk(run);
      const { page, faults, context } = await stage.open('rita', { path: '/runs/restarts' });
      await page.locator('.step.wait').getByText('Waits for approval').waitFor();
      const away = page.getByText('The desk does not answer.');

      await first.kill();
      await stage.stopDesk();
      await away.waitFor();
      await screenshot(page, 'away');
      // What was there stays.
      await page.locator('.step.wait').getByText('Waits for approval').waitFor();
      await stage.restartDesk();
      await away.waitFor({ state: 'hidden' });

      await world.server.crash();
      await stage.spawnWorker();
      const decided = await until('the decision', async () => {
        const reply = await stage
          .desk()
          .post(
            `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`,
            { decision: 'approve', argsHash: ask.argsHash },
            { as: 'rita', key: newKey() },
          );
        return reply.status < 400 ? reply : undefined;
      });
      expect(decided.status).toBeLessThan(300);
      const { events } = await world.ended(run);
      await page.getByText('completed', { exact: true }).first().waitFor();
      await page.getByRole('tab', { name: 'Events' }).click();
      const numbers = page.locator('.event-seq');
      await until('every event', async () =>
        (await numbers.count()) === events.length ? true : undefined,
      );
      expect((await numbers.allTextContents()).map(Number)).toEqual(events.map((_, seq) => seq));
      expect(stage.books.refundsOf('O-104')).toHaveLength(1);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'what it waits for besides people is there with since when, and gone when it is back',
    async () => {
      const { world } = stage;
      const run = await world.raw.workflow.start('agentRun', {
        taskQueue: 'nobody-serves-this',
        workflowId: 'waits-alone',
        args: [],
        typedSearchAttributes: [{ key: TENANT, value: 'default' }],
      });
      const source = {
        tenant: 'default',
        runId: 'waits-alone',
        execution: run.firstExecutionRunId,
      };
      await world.store.appendEvents(source, eventsFrom(0, [SESSION_INIT]));
      const { page, faults, context } = await stage.open('rita', { path: '/runs/waits-alone' });
      const wait = page.locator('.waits .notice');
      await wait.getByText('a worker').waitFor();
      expect(await wait.textContent()).toMatch(
        /^The run waits for a worker since .+ \(\d+ s ago\)$/,
      );
      await screenshot(page, 'run-waits');
      await run.terminate();
      await wait.waitFor({ state: 'hidden' });
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'what the model says is there while it says it',
    async () => {
      await stage.world.start({
        runId: 'live',
        agent: 'bank',
        task: 'Tell the customer.',
        replies: [
          {
            ...call('mail.read', { folder: 'inbox' }, 'Let me see.'),
            chunks: 10,
            chunkDelayMs: 50,
          },
          { ...say(LONG), chunks: 40, chunkDelayMs: 150 },
        ],
        settings: { includePartialMessages: true },
      });
      const { page, context } = await stage.open('rita', { path: '/runs/live' });
      const live = page.getByRole('region', { name: 'The model’s words now' });
      await live.getByText('We are sorry').waitFor();
      expect(await live.textContent()).not.toContain('full amount');
      await screenshot(page, 'run-live');
      await page.locator('.step').getByText(LONG).waitFor();
      await live.waitFor({ state: 'hidden' });
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a run at a glance: turns, calls, waits, retries, figures, and how it ended',
    async () => {
      const { world } = stage;
      const run = await world.start({
        runId: 'glance',
        ...REFUND,
        task: REFUND.task.replaceAll('O-104', 'O-102'),
        replies: [
          ...REFUND.replies.slice(0, 2),
          [{ status: 529, errorType: 'overloaded_error' }, REFUND.replies[2]],
          call('payments.issue_refund', { orderId: 'O-102', amountCents: 590, reason: 'Late.' }),
          say('We have refunded the shipping.'),
        ],
      });
      const ask = await openAsk(run);
      const { page, faults, context } = await stage.open('rita', { path: '/runs/glance' });
      await page.getByText('The run waits for approval of').waitFor();
      await page.getByText(/Cost/).first().waitFor();
      await page.locator('progress').first().waitFor();
      await screenshot(page, 'run-waiting');
      await page.getByRole('link', { name: 'Look at it', exact: true }).click();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('Decided: approved.').waitFor();
      await world.ended(run);
      await page.goto(`${stage.desk().url}/runs/glance`);
      const result = page.getByRole('region', { name: 'Result' });
      await result.getByText('We have refunded the shipping.').waitFor();
      for (const text of [
        'Turn 1',
        'The model is asked again',
        'approved by',
        'waiting for people',
      ]) {
        await page.getByText(text).first().waitFor();
      }
      await screenshot(page, 'run-completed');
      await page.getByRole('tab', { name: 'Conversation' }).click();
      await page.locator('.message.results').first().waitFor();
      await screenshot(page, 'run-conversation');
      await page.getByRole('tab', { name: 'Conversation' }).press('ArrowRight');
      await page.locator('.events li').first().waitFor();
      await page.getByLabel('Type of event').selectOption('retry');
      expect(await page.locator('.events li').count()).toBe(1);
      await screenshot(page, 'run-events');
      expect(ask.kind).toBe('approval');
      expect(faults).toEqual([]);
      const phone = await stage.open('rita', { path: '/runs/glance', phone: true, dark: true });
      await phone.page.locator('.overview .bar').first().waitFor();
      await screenshot(phone.page, 'run-phone-dark');
      expect(await inPage<boolean>(phone.page, IS_WIDER)).toBe(false);
      await Promise.all([context.close(), phone.context.close()]);
    },
    LIMIT_MS,
  );

  test(
    'runs are found by status, agent and cost; one is written to and stopped',
    async () => {
      const { world } = stage;
      const answered = {
        runId: 'answered',
        agent: 'refund',
        task: 'Thanks.',
        replies: [say('Bye.')],
      };
      await world.ended(await world.start(answered));
      const run = await world.start({
        runId: 'to-stop',
        agent: 'bank',
        task: 'Pay the supplier.',
        replies: [transfer('bank.transfer'), say('Paid.')],
      });
      await openAsk(run);
      const { page, faults, context } = await stage.open('rita', { path: '/runs' });
      await page.getByRole('link', { name: 'to-stop' }).waitFor();
      await screenshot(page, 'runs');
      await page.getByLabel('Status').selectOption('awaiting_approval');
      await page.getByRole('link', { name: 'answered' }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'to-stop' }).waitFor();
      await page.getByLabel('Status').selectOption('');
      await page.getByLabel('Agent').fill('refund');
      await page.getByRole('link', { name: 'to-stop' }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'answered' }).waitFor();
      await page.getByLabel(/Cost at least/).fill('1000');
      await page.getByText('No run fits.').waitFor();
      await page.getByLabel(/Cost at least/).fill('');
      await page.getByText('More conditions, and the order').click();
      await page.getByLabel('Order').selectOption('cost');
      await page.getByLabel('Stop reason').fill('max_cost');
      await page.getByText('No run fits.').waitFor();
      await page.getByLabel('Stop reason').fill('completed');
      await page.getByRole('link', { name: 'answered' }).waitFor();
      await page.getByLabel('Stop reason').fill('');
      await page.getByLabel('Order').selectOption('started');
      await page.getByLabel('Agent').fill('bank');
      await page.getByRole('link', { name: 'to-stop' }).click();
      await page.getByText('Write to it, or stop it').click();
      await page.getByLabel('A message to the run').fill('Please hurry.');
      await page.keyboard.press('Control+Enter');
      await page.getByText('The message is sent.').waitFor();
      await page.getByRole('button', { name: 'Interrupt …' }).click();
      await page.getByRole('button', { name: 'Interrupt the run' }).click();
      await page.getByText('Next safe action:').waitFor();
      expect((await run.result()).stopReason).toBe('interrupted');
      await screenshot(page, 'run-stopped');
      const phone = await stage.open('rita', { path: '/runs', phone: true });
      await phone.page.getByRole('link', { name: 'to-stop' }).waitFor();
      await screenshot(phone.page, 'runs-phone');
      expect(await inPage<boolean>(phone.page, IS_WIDER)).toBe(false);
      expect(faults).toEqual([]);
      await Promise.all([context.close(), phone.context.close()]);
    },
    LIMIT_MS,
  );
});
