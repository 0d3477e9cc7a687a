/** What is sent is what was shown: questions that change under an open card, and tools that the desk knows in part. */
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { inputSchemaOf } from '../../authoring/input-schema.js';
import type { Schema } from '../../console/page/data/api-types.js';
import { listsAllArguments } from '../../console/page/decide/listed-arguments.js';
import { call, say } from '../integration/support/world.js';
import { describeInBrowser, inPage, screenshot } from './support/browser.js';
import { bundled } from './support/bundled.js';
import { setStage, transfer, type Stage } from './support/stage.js';
import { pathTo, waiting } from './support/waiting.js';

const LIMIT_MS = 120_000;
const PANEL = `
  export { h, render } from 'preact';
  export { DecisionPanel } from './decide/decision-panel.js';`;
const OTHER = { argsHash: 'b'.repeat(64), openedAt: 1_700_000_000_000 };
const OTHER_ARGS = { recipient: 'DE75 5121 0800 1245 1261 99', amountCents: 990, currency: 'EUR' };

const to = z.string();
const LISTED = {
  plain: z.object({ to, note: z.string().optional() }),
  strict: z.strictObject({ to }),
  described: z.object({ to }).describe('A payment'),
};
const UNLISTED = {
  union: z.union([z.object({ to }), z.object({ iban: to })]).meta({ type: 'object' }),
  loose: z.looseObject({ to }),
  record: z.record(z.string(), z.string()),
  rest: z.object({ to }).catchall(z.number()),
  both: z.intersection(z.object({ to }), z.record(z.string(), z.string())).meta({ type: 'object' }),
};
const schemaOf = (schema: z.ZodType) => inputSchemaOf('bank.payout', schema).jsonSchema;

describeInBrowser('a card', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const payout = (runId: string) =>
    waiting(stage, runId, {
      agent: 'bank',
      task: 'Pay the supplier.',
      replies: [transfer('bank.payout'), say('Paid.')],
      settings: { allowStandingGrants: true },
    });

  /** The hashes of what is decided from now on; the desk is told nothing of it. */
  async function hashesSent(page: Page): Promise<unknown[]> {
    const sent: unknown[] = [];
    await page.route('**/decisions', (route) => {
      const { argsHash } = route.request().postDataJSON() as { readonly argsHash?: unknown };
      sent.push(argsHash);
      return route.fulfill({ status: 409, json: { code: 'kept', detail: 'Kept back.' } });
    });
    return sent;
  }

  test(
    'a question that changes under an open card is drawn anew, and no press is for what was not shown',
    async () => {
      const { run, ask } = await payout('changes');
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      const card = page.getByRole('article');
      const approve = page.getByRole('button', { name: 'Approve', exact: true });
      await card.locator('.source, .grounds h3').first().waitFor();
      const sent = await hashesSent(page);
      let release = (): void => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/v1/inbox/*', async (route) => {
        await released;
        const response = await route.fetch();
        const asked = (await response.json()) as object;
        await route.fulfill({ response, json: { ...asked, ...OTHER, args: OTHER_ARGS } });
      });
      await approve.click();
      await page.getByText('Kept back.').waitFor();
      await page.getByRole('button', { name: 'Correct' }).click();
      await page.getByRole('form', { name: 'Correct' }).getByLabel('amountCents').fill('5');
      expect(sent).toEqual([ask.argsHash]);
      release();
      await card.getByText('exactly 990').waitFor();
      await page.getByText('Your form was about the earlier question').first().waitFor();
      await page.locator('#announcer', { hasText: 'This question has changed.' }).waitFor();
      expect(await page.getByRole('form', { name: 'Correct' }).count()).toBe(0);
      expect(await card.getByText('exactly 125000').count()).toBe(0);
      await screenshot(page, 'card-changed');
      await approve.click();
      await page.getByText('Kept back.').waitFor();
      expect(sent).toEqual([ask.argsHash, OTHER.argsHash]);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await run.interrupt();
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a panel decides on the action that it was made with, whatever it learns afterwards',
    async () => {
      const { run, ask } = await payout('panel');
      const { page, context } = await stage.open('rita');
      const sent = await hashesSent(page);
      const first = { ...ask, outcome: 'pending', rolesNow: ask.roles };
      await inPage(
        page,
        `{
          const { h, render, DecisionPanel } = ${bundled(PANEL)};
          const first = ${JSON.stringify(first)};
          const me = { id: 'somebody', roles: first.rolesNow };
          const place = document.createElement('div');
          document.body.append(place);
          const draw = (ask) =>
            render(h(DecisionPanel, { ask, me, changed() {}, told() {} }), place);
          draw(first);
          draw({ ...first, ...${JSON.stringify(OTHER)} });
          place.querySelector('.primary').click();
        }`,
      );
      await page.getByText('Kept back.').waitFor();
      expect(sent).toEqual([ask.argsHash]);
      await run.interrupt();
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'a grant for a tool whose arguments cannot all be listed says that others may be added',
    async () => {
      const { run, ask } = await payout('unlisted');
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      const openForm = async () => {
        await page.locator('.grounds h3').first().waitFor();
        await page.getByRole('button', { name: 'Approve more like it' }).click();
        await page.getByText('one more call of bank.payout').waitFor();
      };
      const alarm = page.getByText('Arguments that are not here now may be added');
      await openForm();
      expect(await alarm.count()).toBe(0);
      await page.route('**/v1/inbox/*/grounds', async (route) => {
        const response = await route.fetch();
        const { tool, ...grounds } = (await response.json()) as { readonly tool: object };
        const json = { ...grounds, tool: { ...tool, inputSchema: schemaOf(UNLISTED.union) } };
        await route.fulfill({ response, json });
      });
      await page.reload();
      await openForm();
      await alarm.waitFor();
      const isListed = (schema: z.ZodType): boolean =>
        listsAllArguments(schemaOf(schema) as Schema);
      for (const [name, schema] of Object.entries(UNLISTED)) {
        expect([name, isListed(schema)]).toEqual([name, false]);
      }
      for (const [name, schema] of Object.entries(LISTED)) {
        expect([name, isListed(schema)]).toEqual([name, true]);
        // What it does not name never reaches the tool.
        const parsed = inputSchemaOf(name, schema).parse({ to: 'A-1', more: 1 });
        expect(parsed).not.toMatchObject({ ok: true, value: { more: 1 } });
      }
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await run.interrupt();
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );

  test(
    'arguments that the desk does not give are not called too long, and can be asked for again',
    async () => {
      const long = { to: 'ann@example.com', subject: 'Hello', body: 'B'.repeat(20_000) };
      const { run, ask } = await waiting(stage, 'not-fetched', {
        agent: 'bank',
        task: 'Write to the supplier.',
        replies: [call('mail.send', long), say('Written.')],
      });
      const { page, context } = await stage.open('rita', { path: pathTo(ask) });
      await page.getByRole('article').waitFor();
      await page.route('**/texts/**', (route) => route.abort());
      await page.getByRole('button', { name: 'Correct' }).click();
      await page.getByText('The desk did not give the arguments.').waitFor();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.getByRole('button', { name: 'Back' }).click();
      await page.getByRole('button', { name: 'Correct' }).click();
      await page.getByLabel('subject').waitFor();
      await run.interrupt();
      await context.close();
    },
    LIMIT_MS,
  );
});
