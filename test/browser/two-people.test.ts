/** Two people at once, one at the desk and one at a terminal: one word counts, and the page tells the truth by itself. */
import type { Page } from 'playwright-core';
import { holdfast, placeOf } from '../integration/support/command.js';
import { ANY_RUN, call, ofType, openAsk, say, type StartIn } from '../integration/support/world.js';
import { barriersOf } from './support/barriers.js';
import { describeInBrowser, inPage } from './support/browser.js';
import { REFUND, setStage, transfer, type Stage } from './support/stage.js';
import { storedAsk } from './support/waiting.js';

const LIMIT_MS = 240_000;
const ROUNDS = 4;
/** Between the two, in ms: whoever is first differs from round to round. */
const STEP_MS = 40;
const AT_BODY = 'document.activeElement === document.body';
const FOCUSED = 'document.activeElement?.textContent';
const PAYOUT = {
  agent: 'bank',
  task: 'Pay.',
  replies: [transfer('bank.payout'), say('Done.')],
} satisfies Omit<StartIn, 'runId'>;
const path = (askId: string): string => `/inbox/${encodeURIComponent(askId)}`;

describeInBrowser('two people at once', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({ forks: true });
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const terminal = (...words: readonly string[]) => holdfast(placeOf(stage.world), words);
  const AS_TOM = ['--as', 'tom', '--role', 'refund-manager'];

  /** Rejecting at the desk, approving at the terminal; the terminal is that much later. */
  async function race(runId: string, laterMs: number): Promise<void> {
    const run = await stage.world.start({ runId, ...PAYOUT });
    const { askId } = await storedAsk(stage, run);
    const { page, faults, context } = await stage.open('rita', { path: path(askId) });
    await page.getByRole('button', { name: 'Reject …' }).click();
    await page.getByLabel('Why not?').fill('No.');
    const decide = page.getByRole('region', { name: 'Decide' });
    // The form is gone as soon as the page knows that somebody was sooner.
    const press = `document.querySelector('.decide-form form')?.requestSubmit()`;
    const atDesk = inPage(page, press);
    await new Promise((resolve) => setTimeout(resolve, laterMs));
    const said = await terminal('approve', askId, ...AS_TOM);
    await atDesk;
    const { events } = await stage.world.ended(run);
    const [counts, ...more] = ofType(events, 'approval_resolved');
    expect(more).toEqual([]);
    const isApproved = counts?.outcome === 'approved';
    expect(stage.world.service.visits(runId, 'effect')).toHaveLength(isApproved ? 1 : 0);
    expect(said.code).toBe(isApproved ? 0 : 1);
    if (isApproved)
      await decide
        .getByText(/approved by tom|This question is approved/)
        .first()
        .waitFor();
    else {
      await decide.getByText('Decided: rejected.').waitFor();
      expect(said.err).toContain('rejected by service:rita');
    }
    await decide.getByText(`This question is ${counts?.outcome}.`).waitFor();
    await decide.getByRole('heading', { name: isApproved ? 'Done' : 'Refused' }).waitFor();
    expect(await inPage<boolean>(page, AT_BODY)).toBe(false);
    expect(faults).toEqual([]);
    await context.close();
  }

  test(
    'of two words at the same moment one counts, the other one is told whose, and what was approved happens once',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await race(`race-${round}`, round * STEP_MS);
      }
    },
    LIMIT_MS,
  );

  test(
    'whoever has decided is offered the buttons no more, also while the page learns nothing new',
    async () => {
      const run = await stage.world.start({ runId: 'once', ...PAYOUT });
      const { askId } = await storedAsk(stage, run);
      const { page, faults, context } = await stage.open('rita', { path: path(askId) });
      const approve = page.getByRole('button', { name: 'Approve', exact: true });
      await approve.waitFor();
      const questions = '**/v1/inbox/**';
      await page.route(questions, (route) => route.abort());
      await approve.click();
      await page.getByText('Decided: approved.').waitFor();
      expect(await approve.count()).toBe(0);
      await page.getByText('This question is approved.').waitFor();
      await page.unroute(questions);
      await page.getByRole('heading', { name: 'Done' }).waitFor();
      await stage.world.ended(run);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a freeze of one of them is on the page of the other, who lifts it and does not lose their place',
    async () => {
      const { page, faults, context } = await stage.open('ann', { path: '/freezes' });
      await page.getByText('Nothing is frozen.').waitFor();
      const frozen = await terminal(
        'freeze',
        '--tool',
        'mail.read',
        '--reason',
        'Stop it.',
        ...AS_TOM,
      );
      expect(frozen.code).toBe(0);
      const inForce = page.getByRole('list', { name: 'In force' });
      await inForce.getByText('Stop it.').waitFor();
      await page.getByRole('list', { name: 'Frozen' }).getByText('Stop it.').waitFor();
      expect(await barriersOf(page)).toEqual([]);
      await inForce.getByRole('button', { name: 'Lift …' }).press('Enter');
      expect(await inPage(page, 'document.activeElement?.tagName')).toBe('INPUT');
      await page.keyboard.press('Enter');
      await page.getByText('Nothing is frozen.').waitFor();
      expect(await inPage(page, FOCUSED)).toBe('Freezes');
      await page.getByRole('list', { name: 'Frozen' }).waitFor({ state: 'detached' });
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'whoever is about to stop a run that another one stops is not thrown to the top of the page',
    async () => {
      const run = await stage.world.start({ runId: 'stopped-elsewhere', ...PAYOUT });
      await openAsk(run);
      const at = { path: '/runs/stopped-elsewhere' };
      const { page, faults, context } = await stage.open('rita', at);
      await page.getByText('Write to it, or stop it').press('Enter');
      await page.getByRole('button', { name: 'Interrupt …' }).press('Enter');
      expect(await inPage(page, FOCUSED)).toBe('Interrupt the run');
      expect((await terminal('cancel', 'stopped-elsewhere')).code).toBe(0);
      await page.getByRole('button', { name: 'Interrupt the run' }).waitFor({ state: 'detached' });
      expect(await inPage(page, FOCUSED)).toBe('stopped-elsewhere');
      await page.getByText('cancelled: aborted').waitFor();
      expect(await barriersOf(page)).toEqual([]);
      await stage.world.ended(run);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a fork is started at the desk while its parent is cancelled at the terminal, and the keyboard follows',
    async () => {
      const { world } = stage;
      const run = await world.start({ runId: 'parent', ...REFUND });
      await openAsk(run);
      world.script(ANY_RUN, REFUND.replies);
      const { page, faults, context } = await stage.open('rita', { path: '/runs/parent' });
      await page.getByRole('tab', { name: 'Steps' }).click();
      await page.getByText(/^Fork the run after step/).click();
      await page.getByRole('button', { name: 'Play it without effects' }).press('Enter');
      await page.getByRole('region', { name: 'Played without effects' }).waitFor();
      await page.getByRole('button', { name: 'Start the fork …' }).press('Enter');
      expect(await inPage(page, FOCUSED)).toBe('Start it');
      expect(await barriersOf(page)).toEqual([]);
      const cancelled = terminal('cancel', 'parent');
      await page.keyboard.press('Enter');
      await page.getByText('The fork is started.').waitFor();
      expect((await cancelled).code).toBe(0);
      expect((await world.ended(run)).result.stopReason).toBe('aborted');
      const [fork] = await world.store.forksOf('default', 'parent', 9);
      expect(await inPage(page, FOCUSED)).toBe(`The fork ${fork!.runId}`);
      await page.keyboard.press('Enter');
      await page.getByText('Fork of').waitFor({ state: 'attached' });
      const forked = world.client.handle(fork!.runId);
      const { askId } = await storedAsk(stage, forked);
      // Whoever has started it does not decide for it.
      const rolf = await stage.open('rolf', { path: path(askId) });
      const approve = rolf.page.getByRole('button', { name: 'Approve', exact: true });
      await approve.waitFor();
      const [stopped] = await Promise.all([terminal('cancel', fork!.runId), pressed(rolf.page)]);
      expect(stopped.code).toBe(0);
      await forked.result();
      const events = await world.events(fork!.runId);
      const isApproved = ofType(events, 'approval_resolved').some(
        (one) => one.outcome === 'approved',
      );
      const refunds = stage.books.refundsOf('O-104').length;
      expect(refunds).toBeLessThanOrEqual(isApproved ? 1 : 0);
      await rolf.page.getByText(/This question is (approved|withdrawn)\./).waitFor();
      expect([faults, rolf.faults]).toEqual([[], []]);
      await Promise.all([context.close(), rolf.context.close()]);
    },
    LIMIT_MS,
  );

  test(
    'the failures of others come into the table, and whoever is on one of its links stays there',
    async () => {
      const { world } = stage;
      const fail = async (runId: string): Promise<void> => {
        const run = await world.start({
          runId,
          ...PAYOUT,
          agent: 'refund',
          replies: [call('ask_person', {}, 'x')],
        });
        await run.cancel();
        await world.ended(run);
      };
      await fail('failed-1');
      const { page, faults, context } = await stage.open('rita', { path: '/failures' });
      const link = page.getByRole('cell').getByRole('link').first();
      await link.focus();
      const before = await link.textContent();
      await fail('failed-2');
      await page.getByRole('link', { name: 'failed-2' }).waitFor();
      expect(before).not.toBe('failed-2');
      expect(await inPage<boolean>(page, AT_BODY)).toBe(false);
      expect(await barriersOf(page)).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );
});

/** By whoever is sooner: the button may be gone. */
function pressed(page: Page): Promise<unknown> {
  return inPage(
    page,
    `[...document.querySelectorAll('button')].find((one) => one.textContent === 'Approve')?.click()`,
  );
}
