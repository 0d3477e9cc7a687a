/** The page in a real browser: from a customer's message to the payment, and deciding on approvals. */
import { idOf, newKey, tokenOf } from '../integration/support/desk.js';
import { call, ofType, openAsk, say, until } from '../integration/support/world.js';
import { describeInBrowser, inPage, IS_WIDER, screenshot } from './support/browser.js';
import { REFUND, setStage, transfer, type Stage } from './support/stage.js';
import { decide, pathTo, waiting as waitingOn } from './support/waiting.js';

const LIMIT_MS = 120_000;
const FOCUSED = "document.activeElement?.textContent ?? ''";

describeInBrowser('the inbox', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const waiting = (runId: string, start?: Parameters<typeof waitingOn>[2]) =>
    waitingOn(stage, runId, start);

  test(
    'a refund, from the customer’s message to the payment',
    async () => {
      const { page, faults, context } = await stage.open('rita');
      await page.getByText('Nothing waits.').waitFor();
      await screenshot(page, 'inbox-empty');
      const { run, ask } = await waiting('refund-1');
      // The page finds it by itself.
      await page.getByRole('link', { name: /payments\.issue_refund/ }).click();
      const card = page.getByRole('article');
      await card.getByText('89.50 USD', { exact: true }).waitFor();
      await card.getByText('stands in the task').first().waitFor();
      for (const text of ['exactly 8950', 'O-104', 'refund-manager', ask.policyVersion]) {
        await card.getByText(text).first().waitFor();
      }
      expect(await card.locator('.source').count()).toBe(3);
      await screenshot(page, 'card-refund');
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('Decided: approved.').waitFor();
      const receipt = page.getByRole('status', { name: 'Outcome of the action' });
      await receipt.getByRole('heading', { name: 'Done' }).waitFor();
      const [refund] = stage.books.refundsOf('O-104');
      await receipt.getByText(refund!.refundId).first().waitFor();
      await screenshot(page, 'receipt-done');
      const { result } = await stage.world.ended(run);
      expect(result.completed).toBe(true);
      expect(stage.books.refundsOf('O-104')).toMatchObject([{ amountCents: 8_950 }]);
      const { events } = { events: await stage.world.events('refund-1') };
      expect(ofType(events, 'approval_resolved')).toMatchObject([{ by: [idOf('rita')] }]);
      await page.getByText('Nothing waits.').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a corrected amount is paid as corrected, under the word of whoever corrected it',
    async () => {
      const { run, ask } = await waiting('refund-2', {
        ...REFUND,
        task: REFUND.task.replaceAll('O-104', 'O-102'),
        replies: [
          {
            calls: [
              {
                tool: 'payments.issue_refund',
                input: { orderId: 'O-102', amountCents: 4_000, reason: 'Late.' },
              },
            ],
          },
          say('Done.'),
        ],
      });
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      await page.getByRole('button', { name: 'Correct' }).click();
      const form = page.getByRole('form', { name: 'Correct' });
      await form.getByLabel('amountCents').fill('many');
      await form.getByRole('button', { name: 'Send the correction' }).click();
      await page.getByText('amountCents must be a whole number, in digits.').waitFor();
      await form.getByLabel('amountCents').fill('590');
      await form.getByText('= 5.90 USD').waitFor();
      await form.getByLabel('Changes').getByText('40.00 USD (4000)').waitFor();
      await form.getByLabel('Changes').getByText('5.90 USD (590)').waitFor();
      await form.getByLabel('Reason (optional)').fill('Only the shipping.');
      await screenshot(page, 'correct');
      await form.getByRole('button', { name: 'Send the correction' }).press('Enter');
      // Less than half of what was asked for.
      await form.getByText('5.90 USD instead of 40.00 USD').waitFor();
      await form.getByText('a difference of more than a factor of two').waitFor();
      expect((await stage.world.store.getAsk('default', ask.askId))?.outcome).toBe('pending');
      await screenshot(page, 'correct-leap');
      await form.getByRole('button', { name: 'Send it all the same' }).click();
      await page.getByText('Decided: modified.').waitFor();
      await page.getByText('This question is modified.').waitFor();
      expect(await inPage<string>(page, FOCUSED)).toBe('Decided: modified.');
      const next = await openAsk(run).catch(() => undefined);
      if (next !== undefined) {
        await page.goto(`${stage.desk().url}${pathTo(next)}`);
        await page.getByRole('heading', { name: 'Corrected' }).waitFor();
        await page
          .getByRole('row', { name: /amountCents/ })
          .getByText('590')
          .waitFor();
        await screenshot(page, 'corrected');
        await page.getByRole('button', { name: 'Approve' }).click();
      }
      await stage.world.ended(run);
      expect(stage.books.refundsOf('O-102')).toMatchObject([{ amountCents: 590 }]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'two people have to agree: the first one’s vote is shown to the second, and counts once',
    async () => {
      const { run, ask } = await waiting('quorum', {
        agent: 'bank',
        task: 'Pay the supplier.',
        replies: [transfer('bank.transfer'), say('Paid.')],
      });
      const rita = await stage.open('rita', { path: pathTo(ask) });
      const rolf = await stage.open('rolf', { path: pathTo(ask) });
      await rolf.page.getByText('0 of 2 approved').waitFor();
      await rita.page.getByRole('button', { name: 'Approve' }).click();
      await rita.page.getByText('More people have to decide.').waitFor();
      await rita.page.getByText('You have decided: approve.').waitFor();
      await rolf.page.getByText('1 of 2 approved').waitFor();
      await rolf.page.getByRole('article').getByText(idOf('rita')).waitFor();
      await rolf.page.getByRole('heading', { name: 'Waiting for one more person' }).waitFor();
      await screenshot(rolf.page, 'quorum');
      await rolf.page.getByRole('button', { name: 'Approve' }).click();
      await rolf.page.getByText('Decided: approved.').waitFor();
      // Whoever looks at it still is told.
      await rita.page.getByText('This question is approved.').waitFor();
      expect(await rita.page.getByText('More people have to decide.').count()).toBe(0);
      expect((await stage.world.ended(run)).result.counters.toolCalls).toBe(1);
      await Promise.all([rita.context.close(), rolf.context.close()]);
    },
    LIMIT_MS,
  );

  test(
    'where two have to agree, a correction is shown to the second as a difference, and voids earlier votes',
    async () => {
      const { run, ask } = await waiting('quorum-corrected', {
        agent: 'bank',
        task: 'Pay the supplier.',
        replies: [transfer('bank.transfer'), say('Paid.')],
      });
      const rita = await stage.open('rita', { path: pathTo(ask) });
      await rita.page.getByRole('button', { name: 'Correct' }).click();
      await rita.page.getByLabel('amountCents').fill('99000');
      await rita.page.getByLabel('currency').selectOption('USD');
      await rita.page.getByLabel('Reason (optional)').fill('As invoiced.');
      await rita.page.getByRole('button', { name: 'Send the correction' }).click();
      // Another currency is another amount, whatever the numbers are.
      await rita.page.getByText('990.00 USD instead of 1,250.00 EUR').waitFor();
      await rita.page.getByRole('button', { name: 'Send it all the same' }).click();
      await rita.page.getByText('Decided: modified.').waitFor();
      const next = await until('the question about the corrected call', async () => {
        const [open] = await run.pendingApprovals();
        return open !== undefined && open.askId !== ask.askId ? open : undefined;
      });
      // Whoever looks at the corrected question sees what it became, and what is missing.
      const became = rita.page.getByRole('status', { name: 'Outcome of the action' });
      await became.getByText('1 of 2 approved, 1 approval missing').waitFor();
      const wasRow = became.getByRole('row', { name: /amountCents/ });
      await wasRow.locator('del', { hasText: '1,250.00 EUR' }).waitFor();
      await wasRow.locator('ins', { hasText: '990.00 USD' }).waitFor();
      await screenshot(rita.page, 'became');
      await became.getByRole('link', { name: 'The question about it now' }).click();
      await rita.page.getByRole('heading', { name: 'Corrected' }).waitFor();
      const rolf = await stage.open('rolf', { path: pathTo(next) });
      await rolf.page.getByRole('heading', { name: 'Corrected' }).waitFor();
      const row = rolf.page.getByRole('row', { name: /amountCents/ });
      await row.locator('del', { hasText: '125000' }).waitFor();
      await row.locator('ins', { hasText: '99000' }).waitFor();
      await rolf.page.getByText('As invoiced.').waitFor();
      await rolf.page.getByText('1 of 2 approved').waitFor();
      await screenshot(rolf.page, 'corrected');
      await rolf.page.getByRole('button', { name: 'Approve' }).click();
      const { events } = await stage.world.ended(run);
      expect(ofType(events, 'tool_started')).toMatchObject([
        { args: { amountCents: 99_000, currency: 'USD' } },
      ]);
      await Promise.all([rita.context.close(), rolf.context.close()]);
    },
    LIMIT_MS,
  );

  test(
    'a question that nobody decided in time says so, and takes no decision any more',
    async () => {
      const { run, ask } = await waiting('brief', {
        agent: 'bank',
        task: 'Pay at once.',
        replies: [transfer('bank.transfer_soon'), say('It was not paid.')],
      });
      const { page, context } = await stage.open('rita', { path: pathTo(ask) });
      await page.getByText('Expires in').waitFor();
      await page.getByText('This question is expired.').waitFor();
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      const { events } = await stage.world.ended(run);
      expect(ofType(events, 'tool_started')).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'two people decide at once: one word counts, the other is told so',
    async () => {
      const { run, ask } = await waiting('at-once', {
        ...REFUND,
        replies: [
          call('payments.issue_refund', { orderId: 'O-103', amountCents: 100, reason: 'Late.' }),
          say('Done.'),
        ],
      });
      const rita = await stage.open('rita', { path: pathTo(ask) });
      const rolf = await stage.open('rolf', { path: pathTo(ask) });
      await rolf.page.getByRole('button', { name: 'Reject' }).click();
      await rolf.page.getByLabel('Why not?').fill('Not late at all.');
      await rita.page.getByRole('button', { name: 'Approve' }).waitFor();
      const press = rolf.page.getByRole('button', { name: 'Reject', exact: true });
      await Promise.all([
        rita.page.getByRole('button', { name: 'Approve' }).click(),
        press.click(),
      ]);
      await Promise.all(
        [rita, rolf].map(({ page }) =>
          page.getByText(/This question is (approved|rejected)\./).waitFor(),
        ),
      );
      const { events } = await stage.world.ended(run);
      const [resolved, ...others] = ofType(events, 'approval_resolved');
      expect(others).toEqual([]);
      const isPaid = resolved?.outcome === 'approved';
      expect(ofType(events, 'tool_started')).toHaveLength(isPaid ? 1 : 0);
      const loser = isPaid ? rolf : rita;
      await loser.page
        .getByRole('region', { name: 'Decide' })
        .getByText(/decided|is (approved|rejected)/)
        .first()
        .waitFor();
      await Promise.all([rita.context.close(), rolf.context.close()]);
    },
    LIMIT_MS,
  );

  test(
    'who may not decide is told why, and gets no button to do it',
    async () => {
      const { ask, run } = await waiting('not-mine', {
        ...REFUND,
        replies: REFUND.replies.slice(3),
      });
      const { page, context } = await stage.open('clerk', { path: pathTo(ask) });
      await page.getByText('This needs one of the roles: refund-manager.').waitFor();
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      await run.interrupt();
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'who has the focus on a button when somebody else decides has it on the outcome then',
    async () => {
      const { ask, run } = await waiting('meanwhile', {
        ...REFUND,
        replies: REFUND.replies.slice(3),
      });
      const { page, context } = await stage.open('rita', { path: pathTo(ask) });
      await page.getByRole('button', { name: 'Approve', exact: true }).focus();
      await decide(stage, ask, { decision: 'reject', reason: 'No.' });
      await page.getByText('This question is rejected.').waitFor();
      expect(await inPage<string>(page, FOCUSED)).toBe('This question is rejected.');
      await stage.world.ended(run);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'by keyboard alone: to the question, through it, and a decision',
    async () => {
      const { run } = await waiting('by-keys', { ...REFUND, replies: REFUND.replies.slice(3) });
      const { page, context } = await stage.open('rita');
      await page.getByRole('link', { name: /by-keys/ }).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('by-keys');
      await page.getByText('1 found').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: /by-keys/ }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('article').waitFor();
      for (let step = 0; step < 40; step += 1) {
        const name = await inPage<string>(page, FOCUSED);
        if (name.startsWith('Reject')) break;
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
      await page.keyboard.type('No.');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText('Decided: rejected.').waitFor();
      await page.getByText('This question is rejected.').waitFor();
      expect(await inPage<string>(page, FOCUSED)).toBe('Decided: rejected.');
      expect((await stage.world.ended(run)).result.counters.toolCalls).toBe(0);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a card says what was done before and what is used up of a limit; a freeze is told everywhere',
    async () => {
      const again = {
        agent: 'bank',
        task: 'Pay the supplier.',
        replies: [transfer('bank.transfer_limited'), say('Paid.')],
      };
      const first = await waiting('limits-1', again);
      const { page, faults, context } = await stage.open('rita', { path: pathTo(first.ask) });
      await page.getByText('0.00 of 3,000.00 used, this takes 1,250.00 EUR').waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      await stage.world.ended(first.run);
      const second = await waiting('limits-2', again);
      const frozen = await stage.desk().post(
        '/v1/freezes',
        {
          scope: { kind: 'tool', pattern: 'bank.*' },
          reason: 'The bank is being looked at.',
        },
        { as: 'rita', key: newKey() },
      );
      expect(frozen.status).toBe(200);
      await page.goto(`${stage.desk().url}${pathTo(second.ask)}`);
      await page.getByRole('heading', { name: 'This was done before' }).waitFor();
      await page.getByText('1,250.00 of 3,000.00 used, this takes 1,250.00 EUR').waitFor();
      await page.getByText('done, amount 1,250.00, by run').waitFor();
      await page.getByLabel('Frozen').getByText('The bank is being looked at.').waitFor();
      const panel = page.getByRole('region', { name: 'Decide' });
      await panel.getByText('An approval does not let the call pass while').waitFor();
      await screenshot(page, 'limits-and-freeze');
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      const receipt = page.getByRole('status', { name: 'Outcome of the action' });
      await receipt.getByRole('heading', { name: 'Refused: nothing happened' }).waitFor();
      await receipt.getByText('A freeze covers it.').waitFor();
      await screenshot(page, 'receipt-frozen');
      await stage
        .desk()
        .post(`/v1/freezes/${String(frozen.body?.['id'])}/lift`, {}, { as: 'rita' });
      await stage.world.ended(second.run);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a card says which webhooks were told, and which will not be',
    async () => {
      const { run, ask } = await waiting('notified');
      const { store } = stage.world;
      const fates = {
        mail: { state: 'sent' },
        ops: { state: 'given_up', fault: 'status 410' },
      } as const;
      for (const [target, fate] of Object.entries(fates)) {
        await store.openNotices({ target, at: 1, limit: 1_000 });
        const due = await store.dueNotices({ target, at: 1, limit: 1_000 });
        const name = due.find((one) => one.askId === ask.askId);
        const claimed = await store.claimNotice(name!, { by: 'a', at: 1, until: 2 });
        await store.settleNotice(claimed!, fate);
      }
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      const card = page.getByRole('article');
      await card.getByText('mail: told').waitFor();
      await card.getByText('ops: given up after 1 try, status 410').waitFor();
      await screenshot(page, 'card-notified');
      expect(faults).toEqual([]);
      await run.interrupt();
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'without a token it asks for one, and the token of a link leaves the address',
    async () => {
      const { page, context } = await stage.open('rita', { token: 'hf_service_wrong' });
      await page.getByLabel('Token').fill(tokenOf('rita'));
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      await page.goto(`${stage.desk().url}/runs#token=${tokenOf('rolf')}`);
      await page.reload();
      await page.getByText('rolf').first().waitFor();
      expect(page.url()).not.toContain('token');
      await page.getByText('rolf').first().click();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByLabel('Token').waitFor();
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'in dark, and on a phone',
    async () => {
      const { run, ask } = await waiting('phone', { ...REFUND, replies: REFUND.replies });
      const dark = await stage.open('rita', { path: pathTo(ask), dark: true });
      await dark.page.locator('.source').first().waitFor();
      await screenshot(dark.page, 'card-dark');
      const phone = await stage.open('rita', { phone: true });
      await phone.page.getByRole('link', { name: /phone/ }).waitFor();
      await screenshot(phone.page, 'inbox-phone');
      await phone.page.getByRole('link', { name: /phone/ }).click();
      await phone.page.locator('.source').first().waitFor();
      await screenshot(phone.page, 'card-phone');
      expect(await inPage<boolean>(phone.page, IS_WIDER)).toBe(false);
      await phone.page.getByRole('link', { name: '← Inbox' }).click();
      await phone.page.getByRole('link', { name: /phone/ }).waitFor();
      await run.interrupt();
      await Promise.all([dark.context.close(), phone.context.close()]);
    },
    LIMIT_MS,
  );
});
