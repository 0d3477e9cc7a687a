/** Every other answer in a real browser: standing grants, unknown outcomes, budgets and the model's questions. */
import type { Page } from 'playwright-core';
import { idOf } from '../integration/support/desk.js';
import { call, ofType, openAsk, say, until } from '../integration/support/world.js';
import { describeInBrowser, inPage, IS_WIDER, screenshot } from './support/browser.js';
import { LOST } from './support/shop.js';
import { setStage, transfer, type Stage } from './support/stage.js';
import { decide, pathTo, storedAsk, waiting, type Waiting } from './support/waiting.js';

const LIMIT_MS = 120_000;
const OTHERS = 'DE75 5121 0800 1245 1261 99';

let stage: Stage;
const effectsOf = (runId: string) => stage.world.service.visits(runId, 'effect').length;
const panelOf = (page: Page) => page.getByRole('region', { name: 'Decide' });

/** The same page, small and dark: nothing of it may be beside the screen. */
async function onPhoneInDark(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await screenshot(page, name);
  expect(await inPage<boolean>(page, IS_WIDER)).toBe(false);
  await page.emulateMedia({ colorScheme: 'light' });
  if (before !== null) await page.setViewportSize(before);
}

describeInBrowser('what else people answer', () => {
  /** What becomes of a lost payment is asked only when its tool's time is over: all of them wait for it at once. */
  let lostRuns: ReadonlyMap<string, Waiting>;
  beforeAll(async () => {
    stage = await setStage();
    const notes = Object.entries(LOST);
    const lost = notes.map(async ([when, note]) => [when, await lostPayment(when, note)] as const);
    lostRuns = new Map(await Promise.all(lost));
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  /** A payment whose answer never came, after somebody had approved it. */
  async function lostPayment(when: string, note: string): Promise<Waiting> {
    const { run, ask } = await waiting(stage, `lost-${when}`, {
      agent: 'bank',
      task: 'Pay the supplier.',
      replies: [transfer('bank.transfer_lost', { note }), say('That is all.')],
    });
    await decide(stage, ask, { decision: 'approve' });
    const asked = await storedAsk(stage, run);
    if (note !== LOST.always) return { run, ask: asked };
    await decide(stage, asked, { decision: 'not_happened' });
    return { run, ask: await storedAsk(stage, run) };
  }

  function lost(when: keyof typeof LOST): Waiting {
    const found = lostRuns.get(when);
    if (found === undefined) throw new Error(`no payment is lost ${when}`);
    return found;
  }

  const payouts = (amounts: readonly number[], recipient?: string) =>
    amounts.map((amountCents) =>
      transfer('bank.payout', { amountCents, ...(recipient !== undefined && { recipient }) }),
    );

  test(
    'a standing grant: said in words, confirmed, and then good for what it says and no more',
    async () => {
      const { run, ask } = await waiting(stage, 'granted', {
        agent: 'bank',
        task: 'Pay the supplier in parts.',
        replies: [
          ...payouts([125_000, 150_000]),
          ...payouts([100], OTHERS),
          ...payouts([1, 2]),
          say('Paid.'),
        ],
        settings: { allowStandingGrants: true },
      });
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      await page.getByRole('button', { name: 'Approve more like it' }).click();
      const panel = panelOf(page);
      await panel.getByText('one more call of bank.payout').waitFor();
      await panel.getByLabel('How many more calls').fill('none');
      await panel.getByText('A whole number from 1 to 1,000.').waitFor();
      await panel.getByLabel('How many more calls').fill('2');
      await panel.getByLabel('recipient').selectOption('anything');
      await panel.getByText('Without any bound: recipient.').waitFor();
      await panel.getByLabel('recipient').selectOption('exactly');
      await panel.getByLabel('amountCents', { exact: true }).selectOption('at most');
      await panel.getByLabel('amountCents at most').fill('150000');
      await panel.getByText('can take up to 3,000.00 EUR').waitFor();
      await screenshot(page, 'grant');
      await panel.getByRole('button', { name: 'Look it over' }).click();
      await panel.getByText('A standing grant cannot be taken back.').waitFor();
      await panel.getByText('recipient is exactly DE02').waitFor();
      await panel.getByText('amountCents is at most 150000 (1,500.00 EUR)').waitFor();
      // What is not given now may not be added later.
      await panel.getByText('urgent is not given').waitFor();
      await screenshot(page, 'grant-confirm');
      await panel.getByRole('button', { name: 'Change it' }).click();
      expect(await panel.getByLabel('amountCents at most').inputValue()).toBe('150000');
      await onPhoneInDark(page, 'grant-phone-dark');
      await panel.getByRole('button', { name: 'Look it over' }).click();
      await onPhoneInDark(page, 'grant-confirm-phone-dark');
      expect(effectsOf('granted')).toBe(0);
      await panel.getByRole('button', { name: 'Approve this and up to 2 more' }).click();
      // The second goes ahead by itself; the third is for somebody else.
      const other = await until('the question about another recipient', async () => {
        const [open] = await run.pendingApprovals();
        return open !== undefined && open.askId !== ask.askId ? open : undefined;
      });
      expect(other).toMatchObject({ args: { recipient: OTHERS } });
      expect(effectsOf('granted')).toBe(2);
      await page.goto(`${stage.desk().url}/runs/granted`);
      const grants = page.getByRole('region', { name: 'Standing grants' });
      await grants.getByText('1 more call').waitFor();
      await grants.getByText('amountCents is at most 150000').waitFor();
      await page.getByText('goes ahead by a standing grant').waitFor();
      await page.getByText('and up to 2 more like it').waitFor();
      await screenshot(page, 'run-grants');
      await decide(stage, other, { decision: 'reject', reason: 'Not to them.' });
      // The fourth uses the grant up; the fifth is asked about again.
      const last = await storedAsk(stage, run);
      expect(last).toMatchObject({ args: { amountCents: 2 } });
      expect(effectsOf('granted')).toBe(3);
      await grants.waitFor({ state: 'hidden' });
      await decide(stage, last, { decision: 'approve' });
      const { events } = await stage.world.ended(run);
      const uses = ofType(events, 'approval_resolved').filter(({ reason }) =>
        reason?.startsWith('grant:'),
      );
      expect(uses).toMatchObject([{ by: [idOf('rita')] }, { by: [idOf('rita')] }]);
      const trail = await stage.world.store.readAudit('default', { runId: 'granted', limit: 100 });
      const [decided] = trail.filter(({ kind }) => kind === 'decided');
      expect(decided?.facts).toMatchObject({
        decision: 'approve',
        grant: { uses: 2, expiresInMs: 3_600_000, matcher: { tool: 'bank.payout' } },
      });
      expect(trail.filter(({ kind }) => kind === 'effect_started')).toHaveLength(4);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'no standing grant is offered where the run takes none, where two have to agree, or to whom may not decide',
    async () => {
      const start = { agent: 'bank', task: 'Pay.' };
      const settings = { allowStandingGrants: true };
      const cases = [
        { runId: 'takes-none', tool: 'bank.payout', as: 'rita', settings: {} },
        { runId: 'two-agree', tool: 'bank.transfer', as: 'rita', settings },
        { runId: 'not-theirs', tool: 'bank.payout', as: 'clerk', settings },
      ] as const;
      await Promise.all(
        cases.map(async ({ runId, tool, as, settings: given }) => {
          const replies = [transfer(tool), say('Paid.')];
          const { ask, run } = await waiting(stage, runId, { ...start, replies, settings: given });
          const { page, context } = await stage.open(as, { path: pathTo(ask) });
          // What the run knows of its question has come.
          await page.getByText(/nobody has decided|0 of 2 approved/).waitFor();
          const approve = page.getByRole('button', { name: 'Approve', exact: true });
          if (as === 'rita') await approve.waitFor();
          expect(await page.getByRole('button', { name: /more like it/ }).count()).toBe(0);
          await run.interrupt();
          await context.close();
        }),
      );
    },
    LIMIT_MS,
  );

  test(
    'an unknown outcome that took effect: its receipt is told, and nothing is paid again',
    async () => {
      const { run, ask } = lost('after');
      expect(ask).toMatchObject({ kind: 'outcome' });
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      const card = page.getByRole('article');
      await card.getByRole('heading', { name: 'Did it happen? bank.transfer_lost' }).waitFor();
      await card.getByText('1,250.00 EUR').waitFor();
      await card.getByRole('heading', { name: 'The attempt' }).waitFor();
      await card.getByText(/Started \d.*; nobody knows how it ended\./).waitFor();
      await card.getByText(/The end of attempt 1 was not heard \(.+\)/).waitFor();
      await card.getByText(/The claim of the attempt was taken away \(.+\)/).waitFor();
      await card.getByText('Neither the ledger nor the tool could tell').waitFor();
      await card.getByText('lost-after:0', { exact: true }).waitFor();
      await card.getByText('Approved by').waitFor();
      await screenshot(page, 'outcome');
      await page.getByRole('button', { name: 'The call happened' }).click();
      await page.getByLabel(/Result of the tool/).fill('{"receipt": 17}');
      await screenshot(page, 'outcome-happened');
      await page.getByRole('button', { name: 'The call happened', exact: true }).click();
      await page.getByText('Decided: happened.').waitFor();
      const { events, result } = await stage.world.ended(run);
      expect(result.completed).toBe(true);
      expect(effectsOf('lost-after')).toBe(1);
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { status: 'ok', content: { text: '{"receipt":17}' } },
      ]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'an unknown outcome that did not take effect: the page warns, and it is paid once after that',
    async () => {
      const { run, ask } = lost('before');
      const { page, context } = await stage.open('rita', { path: pathTo(ask) });
      await page.getByRole('button', { name: 'The call did not happen' }).click();
      await page.getByText('A call that happened after all may then happen twice.').waitFor();
      expect(effectsOf('lost-before')).toBe(0);
      await panelOf(page).getByRole('button', { name: 'The call did not happen' }).click();
      await page.getByText('Decided: not happened.').waitFor();
      const { result } = await stage.world.ended(run);
      expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
      expect(effectsOf('lost-before')).toBe(1);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'an outcome that stays unknown: the card tells both attempts, and the run is stopped',
    async () => {
      const { run, ask } = lost('always');
      const { page, context } = await stage.open('rita', { path: pathTo(ask), phone: true });
      await page.getByRole('heading', { name: '2 attempts' }).waitFor();
      await page.getByText(`it did not happen, said ${idOf('rita')}`).waitFor();
      await page.getByText('nobody knows how it ended').waitFor();
      expect(await inPage<boolean>(page, IS_WIDER)).toBe(false);
      await screenshot(page, 'outcome-phone');
      await page.getByRole('button', { name: 'Stop the run' }).click();
      await page.getByText('the outcome stays unknown').waitFor();
      await panelOf(page).getByRole('button', { name: 'Stop the run' }).click();
      await page.getByText('Decided: stopped.').waitFor();
      const { result } = await stage.world.ended(run);
      expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'outcome_unknown' });
      expect(effectsOf('lost-always')).toBe(2);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a question of the model is answered, and more of a budget is allowed',
    async () => {
      const { run, ask } = await waiting(stage, 'asked', {
        agent: 'bank',
        task: 'Ask first.',
        replies: [
          call('ask_person', { question: 'Which colour?' }),
          say('Blue it is.'),
          say('Done.'),
        ],
        budget: { maxTurns: 1 },
        settings: { onBudget: 'ask' },
      });
      const { page, context } = await stage.open('rita', {
        path: `/questions/${encodeURIComponent(ask.askId)}`,
      });
      await page.getByText('Which colour?').first().waitFor();
      await page.getByRole('textbox', { name: /answer/i }).fill('blue');
      // Whoever was too late is told so, and of no command: they are at a page.
      const late = { code: 'already_decided', detail: 'Too late.', hint: 'See `holdfast show x`.' };
      await page.route('**/answers', (route) => route.fulfill({ status: 409, json: late }));
      await page.getByRole('button', { name: 'Answer' }).click();
      await page.getByText('Too late.').waitFor();
      expect(await panelOf(page).getByRole('alert').textContent()).toBe('Too late.');
      await page.unroute('**/answers');
      await page.getByRole('button', { name: 'Answer' }).click();
      await page.getByText('This question is answered.').waitFor();
      const receipt = page.getByRole('status', { name: 'Outcome of the action' });
      await receipt.getByText('blue', { exact: true }).waitFor();
      const more = await openAsk(run);
      expect(more).toMatchObject({ kind: 'budget' });
      await page.goto(`${stage.desk().url}${pathTo(more)}`);
      await page.getByRole('heading', { name: 'More turns?' }).waitFor();
      await page.getByLabel('Allow more:').fill('5');
      await screenshot(page, 'budget');
      await page.getByRole('button', { name: 'Allow' }).click();
      expect((await stage.world.ended(run)).result.completed).toBe(true);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'no more of a budget: the run ends, and says which',
    async () => {
      const { run, ask } = await waiting(stage, 'no-more', {
        agent: 'bank',
        task: 'Look it up.',
        replies: [call('mail.read', { folder: 'inbox' }), say('Done.')],
        budget: { maxTurns: 1 },
        settings: { onBudget: 'ask' },
      });
      const { page, context } = await stage.open('rita', { path: pathTo(ask) });
      await page.getByText('1 of 1 turns').waitFor();
      await page.getByRole('button', { name: 'No more' }).click();
      await page.getByText('Decided: rejected.').waitFor();
      expect((await stage.world.ended(run)).result).toMatchObject({ stopReason: 'max_turns' });
      await context.close();
    },
    LIMIT_MS,
  );
});
