/** Where somebody is on the page: a reload, a way back and a desk that was away do not take it from them. */
import type { AskView } from '../../core/state/ask-view.js';
import { tokenOf } from '../integration/support/desk.js';
import { call, openAsk, say, until } from '../integration/support/world.js';
import { describeInBrowser, inPage } from './support/browser.js';
import { REFUND, setStage, transfer, type Stage } from './support/stage.js';
import { pathTo, storedAsk } from './support/waiting.js';

const LIMIT_MS = 180_000;

describeInBrowser('the place on the page', () => {
  let stage: Stage;
  let asked: AskView;
  beforeAll(async () => {
    stage = await setStage();
    const { world } = stage;
    asked = await storedAsk(stage, await world.start({ runId: 'refund-open', ...REFUND }));
    const replies = [call('mail.read', { folder: 'inbox' }), say('Read.')];
    for (const runId of ['left', 'right'])
      await world.ended(await world.start({ runId, agent: 'bank', task: 'Read.', replies }));
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  test(
    'a link whose token is cut off changes nothing: neither the page nor who is logged in',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/runs' });
      await page.getByRole('link', { name: 'refund-open' }).waitFor();
      for (const hash of ['#token=%zz', '#token=%', '#token=%E0%A4%A', '#token=']) {
        await inPage(page, `location.hash = '${hash}'`);
        await page.reload();
        await page.getByRole('link', { name: 'refund-open' }).waitFor();
      }
      expect(faults).toEqual([]);
      await context.close();
      // Whoever has no other login is asked for one.
      const stranger = await stage.open('rita', { path: '/runs#token=%zz' });
      await stranger.page.getByRole('form', { name: 'Log in' }).waitFor();
      expect(await inPage<string>(stranger.page, 'location.hash')).toBe('');
      expect(stranger.faults).toEqual([]);
      await stranger.context.close();
    },
    LIMIT_MS,
  );

  test(
    'a token that is refused is said to be so, and that what was pressed with it had no effect',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: pathTo(asked) });
      const approve = page.getByRole('button', { name: 'Approve', exact: true });
      await approve.waitFor();
      // Before the page asks for anything else.
      await inPage(
        page,
        `sessionStorage.setItem('holdfast-token', 'hf_service_over');
         [...document.querySelectorAll('button')].find((one) => one.textContent === 'Approve').click()`,
      );
      const form = page.getByRole('form', { name: 'Log in' });
      const said = form.getByRole('alert');
      await said
        .getByText(/^Your session is over: log in again\. Your last action had no effect/)
        .waitFor();
      expect(await form.textContent()).not.toContain('holdfast dev');
      const logIn = async (token: string): Promise<void> => {
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', { name: 'Log in' }).click();
      };
      await logIn('hf_service_nobodys');
      await said.getByText(/^The desk does not take this token: [^.]*\.$/).waitFor();
      await logIn('hf_service_rita…');
      await said.getByText(/^A token has letters/).waitFor();
      await logIn(tokenOf('rita'));
      await approve.waitFor();
      expect(stage.books.refundsOf('O-104')).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test.each(['%E2%82%AChf', 'a%00b', 'hf_service_rita%E2%80%8B'])(
    'a link with the token %s asks for another one, and says why',
    async (token) => {
      const { page, faults, context } = await stage.open('rita', { token });
      const form = page.getByRole('form', { name: 'Log in' });
      await form.getByText(/^The token of the link is damaged/).waitFor();
      expect(await inPage<string>(page, 'location.hash')).toBe('');
      expect(await page.getByText('The desk does not answer.').count()).toBe(0);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'filters, the runs that were chosen and the tab are there again after a reload and on the way back',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/runs' });
      await page.getByLabel('Status').selectOption('completed');
      await page.getByText('More conditions, and the order').click();
      const asked = page.waitForResponse((one) => one.url().includes('tool=mail.read'));
      await page.getByLabel('Tool used').fill('mail.read');
      await asked;
      await page.getByRole('link', { name: 'refund-open' }).waitFor({ state: 'detached' });
      await page.getByLabel('Compare left').check();
      const isThere = async (): Promise<void> => {
        await page.getByRole('link', { name: 'right' }).waitFor();
        expect(await page.getByLabel('Status').inputValue()).toBe('completed');
        expect(await page.getByLabel('Tool used').inputValue()).toBe('mail.read');
        expect(await page.getByLabel('Compare left').isChecked()).toBe(true);
        expect(await page.getByRole('link', { name: 'refund-open' }).count()).toBe(0);
      };
      await page.reload();
      await isThere();
      await page.getByRole('link', { name: 'right' }).click();
      await page.getByRole('tab', { name: 'Conversation' }).click();
      await page
        .getByRole('tabpanel', { name: 'Conversation' })
        .getByText('Read.')
        .first()
        .waitFor();
      const isOpen = { name: 'Conversation', selected: true };
      await page.reload();
      await page.getByRole('tab', isOpen).waitFor();
      await page.goBack();
      await isThere();
      await page.goForward();
      await page.getByRole('tab', isOpen).waitFor();
      // Another run begins with what there is to see first.
      await page.getByRole('link', { name: '← Runs' }).click();
      await page.getByRole('link', { name: 'refund-open' }).click();
      await page.getByRole('tab', { name: 'Timeline', selected: true }).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a tab that was left for another one stays left, whatever step the address names',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/runs/left/steps/1' });
      await page.getByRole('region', { name: 'Step 1', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Next →' }).click();
      await page.getByRole('region', { name: 'Step 2', exact: true }).waitFor();
      // Where there is no further step the focus stays on the button that came there.
      await page.getByRole('button', { name: '← Previous' }).press('Enter');
      await page.getByRole('region', { name: 'Step 1', exact: true }).waitFor();
      expect(await inPage(page, 'document.activeElement?.textContent')).toBe('← Previous');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Next →' }).press('Enter');
      await page.getByRole('region', { name: 'Step 2', exact: true }).waitFor();
      // Behind several steps in a row the address names the one at which somebody rests.
      await page.waitForURL(/\/steps\/2$/);
      await page.reload();
      await page.getByRole('region', { name: 'Step 2', exact: true }).waitFor();
      await page.getByRole('tab', { name: 'Events' }).click();
      await page.reload();
      await page.getByRole('tab', { name: 'Events', selected: true }).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'the search of the inbox goes with the questions that it found',
    async () => {
      const { world } = stage;
      const replies = [transfer('bank.payout'), say('Paid.')];
      const run = await world.start({ runId: 'payout-open', agent: 'bank', task: 'Pay.', replies });
      await openAsk(run);
      const { page, faults, context } = await stage.open('rita');
      await page.getByRole('searchbox').fill('payments');
      await page.getByRole('link', { name: /bank\.payout/ }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: /payments\.issue_refund/ }).click();
      await page.getByRole('article').waitFor();
      await page.reload();
      await page.getByRole('article').waitFor();
      await page.getByText('1 found, oldest first').waitFor();
      expect(await page.getByRole('searchbox').inputValue()).toBe('payments');
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a slider that is dragged has one step fetched at a time, and the last one is shown',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/runs' });
      // A step that was fetched ahead would be shown without a request.
      const refused = { status: 400, code: 'invalid', detail: 'No.' };
      const held: (() => void)[] = [];
      let isHeld = false;
      await page.route(/\/v1\/runs\/left\/steps\/\d+\?/, async (route) => {
        if (route.request().url().includes('ahead')) {
          await route.fulfill({ status: 400, json: refused });
          return;
        }
        if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
        await route.continue();
      });
      await page.goto(`${stage.desk().url}/runs/left/steps/1`);
      await page.getByRole('region', { name: 'Step 1', exact: true }).waitFor();
      isHeld = true;
      const steps: number[] = [];
      page.on('request', (request) => {
        const [, step, query] = /\/v1\/runs\/left\/steps\/(\d+)\?(.*)/.exec(request.url()) ?? [];
        if (step !== undefined && !query!.includes('ahead')) steps.push(Number(step));
      });
      const slider = page.getByLabel('Step', { exact: true });
      for (const step of [2, 3, 4, 5]) {
        await slider.fill(String(step));
        await page.getByText(`Step ${step} of`).waitFor();
      }
      expect(steps).toEqual([2]);
      held.shift()!();
      await until('the next request', () => held.shift()).then((go) => go());
      await page.getByRole('region', { name: 'Step 5', exact: true }).waitFor();
      expect(steps).toEqual([2, 5]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'steps that were being looked at stay while the desk is away, and go on when it is back',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/runs/left/steps/1' });
      await page.getByRole('region', { name: 'Step 1', exact: true }).waitFor();
      await stage.stopDesk();
      await page.getByRole('button', { name: 'Look for newer steps' }).click();
      await page.getByText('The desk does not answer.').first().waitFor();
      await page.getByRole('region', { name: 'Step 1', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Next →' }).click();
      await stage.restartDesk();
      await page.getByRole('region', { name: 'Step 2', exact: true }).waitFor();
      await page.getByText('The desk does not answer.').first().waitFor({ state: 'hidden' });
      expect(await page.getByText('The desk does not answer.').count()).toBe(0);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );
});
