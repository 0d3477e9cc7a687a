/** Beside deciding: freezing and lifting, the audit trail, past decisions, the order of the inbox, keys. */
import { idOf } from '../integration/support/desk.js';
import { call, ofType, say, until } from '../integration/support/world.js';
import { describeInBrowser, inPage, screenshot } from './support/browser.js';
import { setStage, transfer, type Stage } from './support/stage.js';
import { decide, pathTo, waiting } from './support/waiting.js';

const LIMIT_MS = 120_000;
const COLOURS = ['blue', 'red & green'];

describeInBrowser('the desk', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const paying = (runId: string, tool: string, amountCents: number) =>
    waiting(stage, runId, {
      agent: 'bank',
      task: 'Pay the supplier.',
      replies: [transfer(tool, { amountCents }), say('That is all.')],
    });

  test(
    'somebody freezes tools and lifts the freeze on the page; who may not is told',
    async () => {
      const { page, faults, context } = await stage.open('rita', { path: '/freezes' });
      await page.getByText('Nothing is frozen.').waitFor();
      await page.getByRole('button', { name: 'Freeze', exact: true }).click();
      await page.getByText('Name the tools or the agent.').waitFor();
      await page.getByLabel('Name of the tool').fill('mail.*');
      await page.getByLabel('Why', { exact: true }).fill('The mail server is looked at.');
      await page.getByLabel('For how long').selectOption('1 hour');
      await page.getByRole('button', { name: 'Freeze', exact: true }).click();
      const list = page.getByRole('list', { name: 'In force' });
      await list.getByText('The mail server is looked at.').waitFor();
      await screenshot(page, 'freezes');
      expect(await stage.world.store.freezesInForce('default', Date.now())).toMatchObject([
        { scope: { kind: 'tool', pattern: 'mail.*' }, by: idOf('rita') },
      ]);
      await list.getByRole('button', { name: 'Lift' }).click();
      await list.getByLabel('Why is it lifted?').fill('It works again.');
      await list.getByLabel('Why is it lifted?').press('Enter');
      await page.getByRole('list', { name: 'Before' }).getByText('It works again.').waitFor();
      expect(await stage.world.store.freezesInForce('default', Date.now())).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'the audit trail is shown to auditors, and checked in the browser: a changed row is found',
    async () => {
      const { run, ask } = await paying('trail', 'bank.payout', 1_000);
      await decide(stage, ask, { decision: 'approve' });
      await stage.world.ended(run);
      const rita = await stage.open('rita', { path: '/trail' });
      await rita.page.getByRole('heading', { name: 'Not for your roles' }).waitFor();
      await rita.context.close();
      const { page, faults, context } = await stage.open('ann', { path: '/trail' });
      const row = page.getByRole('row', { name: /decided/ }).first();
      await row.getByText(idOf('rita')).first().waitFor();
      await page.getByRole('button', { name: 'Get the newest head' }).click();
      const kept = page.getByLabel('A head that was kept');
      await until('the head', async () => (await kept.inputValue()).includes('hash') || undefined);
      await page.getByRole('button', { name: 'Verify the trail' }).click();
      await page.getByText(/Unbroken: \d+ rows?, .*passes through the kept head/).waitFor();
      await screenshot(page, 'trail');
      await page.route('**/v1/audit?**', async (route) => {
        const response = await route.fetch();
        const { rows } = (await response.json()) as { readonly rows: readonly object[] };
        const changed = rows.map((one, place) => (place === 0 ? { ...one, by: 'nobody' } : one));
        await route.fulfill({ response, json: { rows: changed } });
      });
      await page.getByRole('button', { name: 'Verify the trail' }).click();
      await page.getByText('row 1 does not have the hash of what it says').waitFor();
      expect(faults).toEqual([]);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'the inbox by amount and by expiry, mine to decide, the next question, past decisions',
    async () => {
      const small = await paying('small', 'bank.payout', 100);
      const large = await paying('large', 'bank.transfer', 900_000);
      const middle = await paying('middle', 'bank.payout', 5_000);
      const { page, faults, context } = await stage.open('rita');
      const rows = page.getByRole('list', { name: 'Waiting for a decision' });
      await rows.getByRole('link', { name: /large/ }).waitFor();
      const runs = async () =>
        (await rows.locator('.row-run').allTextContents()).map((text) => text.trim());
      expect(await runs()).toEqual(['small', 'large', 'middle']);
      await page.getByLabel('Order').selectOption('Largest amount first');
      expect(await runs()).toEqual(['large', 'middle', 'small']);
      await screenshot(page, 'by-amount');
      // With several people to agree, one's own word is no longer wanted.
      await decide(stage, large.ask, { decision: 'approve' });
      await page.getByLabel('Mine to decide').check();
      await page.getByText('2 to decide of 3 waiting, largest amount first').waitFor();
      expect(await runs()).toEqual(['middle', 'small']);
      await rows.getByRole('link', { name: /middle/ }).click();
      const card = page.getByRole('article');
      await card.getByText('Agent bank').waitFor();
      await card.getByText(/Expires in .*(UTC|GMT|[A-Z]{3,4})/).waitFor();
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByLabel('Why not?').fill('Not now.');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByLabel('Why not?').fill('Not today.');
      await page.keyboard.press('Control+Enter');
      await page.getByText('Decided: rejected.').waitFor();
      await page.getByRole('link', { name: 'Next →' }).click();
      await card.getByText('1.00 EUR').first().waitFor();
      await page.keyboard.press('Escape');
      await page.goto(stage.desk().url);
      await page.getByLabel('State').selectOption('Past decisions');
      const past = page.getByRole('list', { name: 'Past decisions' });
      await past.getByRole('link', { name: /middle/ }).click();
      await page.getByText('Not today.').first().waitFor();
      await screenshot(page, 'past-decisions');
      expect(faults).toEqual([]);
      for (const { run } of [small, large, middle]) await run.interrupt().catch(() => {});
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'choices of a question are buttons; the answer gets its real outcome, also the one that came late',
    async () => {
      const { run, ask } = await waiting(stage, 'choices', {
        agent: 'bank',
        task: 'Ask first.',
        replies: [
          call('ask_person', { question: 'Which colour?', choices: COLOURS }),
          say('Blue it is.'),
        ],
      });
      const path = `/questions/${encodeURIComponent(ask.askId)}`;
      const rita = await stage.open('rita', { path });
      const rolf = await stage.open('rolf', { path });
      await rolf.page.getByRole('textbox', { name: /answer/i }).fill('green');
      // His page does not learn of the other answer before he sends his.
      await rolf.page.route('**/v1/inbox/**', (route) => route.abort());
      await screenshot(rita.page, 'choices');
      await rita.page.getByRole('button', { name: COLOURS[1] }).click();
      await rita.page.getByText('Decided: answered.').waitFor();
      const receipt = rita.page.getByRole('status', { name: 'Outcome of the action' });
      await receipt.getByText(`The answer of ${idOf('rita')} counts.`).waitFor();
      await rolf.page.getByRole('textbox', { name: /answer/i }).press('Control+Enter');
      await rolf.page.getByText('The question has been answered.').waitFor();
      const { events } = await stage.world.ended(run);
      expect(ofType(events, 'tool_finished')).toMatchObject([{ content: { text: COLOURS[1] } }]);
      await rolf.page.unrouteAll({ behavior: 'ignoreErrors' });
      await Promise.all([rita.context.close(), rolf.context.close()]);
    },
    LIMIT_MS,
  );

  test(
    'Correct can be pressed before the grounds are there: the form comes with them',
    async () => {
      const { run, ask } = await paying('early', 'bank.payout', 100);
      const { page, context } = await stage.open('rita');
      let release = (): void => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/v1/inbox/*/grounds', async (route) => {
        await released;
        await route.continue();
      });
      await page.goto(`${stage.desk().url}${pathTo(ask)}`);
      await page.getByRole('button', { name: 'Correct' }).click();
      await page
        .getByRole('region', { name: 'Decide' })
        .getByText('Fetching the grounds')
        .waitFor();
      release();
      await page.getByLabel('amountCents').fill('150');
      expect(await inPage<string>(page, 'document.activeElement?.name ?? ""')).toBe('amountCents');
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await run.interrupt();
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'that an older copy took the place of the store is said above every view, also to those who only answer',
    async () => {
      const { page, faults, context } = await stage.open('clerk');
      await page.route('**/v1/store', (route) =>
        route.fulfill({ json: { restoredAt: Date.UTC(2026, 10, 28) } }),
      );
      for (const path of ['/', '/runs']) {
        await page.goto(`${stage.desk().url}${path}`);
        const note = page.getByRole('note').filter({ hasText: 'Restored store' });
        await note.getByText(/older copy of the store took its place \(noticed 28 Nov/).waitFor();
      }
      expect(faults).toEqual([]);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
    LIMIT_MS,
  );
});
