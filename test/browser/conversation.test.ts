/** The conversation of a run that goes on: it grows while it is looked at, and replies show what they cite. */
import type { Browser } from 'playwright-core';
import { askPerson, defineAgent, defineConfig } from '../../authoring/index.js';
import { AGENT } from '../integration/support/agents.js';
import { startDesk, tokenOf, type TestDesk } from '../integration/support/desk.js';
import { openAsk, startWorld, type World } from '../integration/support/world.js';
import { startMessagesVendor, type MessagesVendor } from '../testing/support/messages-vendor.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { barriersOf } from './support/barriers.js';
import { describeInBrowser, inPage, startBrowser, visit } from './support/browser.js';

const LIMIT_MS = 120_000;
const URL = 'https://carrier.example/O-17';
const cited = (title: string) => ({
  type: 'web_search_result_location',
  url: URL,
  title,
  cited_text: 'Ada waits since Monday.',
  encrypted_index: 'b3BhcXVl',
});
const QUESTION = 'Shall I write to the carrier?';

describeInBrowser('the conversation of a run that goes on', () => {
  let world: World;
  let vendor: MessagesVendor;
  let desk: TestDesk;
  let browser: Browser;
  beforeAll(async () => {
    vendor = await startMessagesVendor(
      {
        content: [
          { type: 'text', text: 'It waits.', citations: [cited('<b>Parcel</b>')] },
          { type: 'tool_use', id: 't1', name: 'ask_person', input: { question: QUESTION } },
        ],
        stop: 'tool_use',
      },
      { content: [{ type: 'text', text: 'I have written.', citations: [cited('Contact')] }] },
    );
    world = await startWorld({ worker: false });
    const model = 'anthropic/claude-sonnet-5-5';
    const agent = { name: AGENT, model, instructions: 'Serve.', tools: [askPerson] };
    const config = defineConfig({ agents: [defineAgent(agent)] });
    const variables = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: vendor.baseUrl };
    await world.serve({ config, providers: providersOf(readEnvironment(variables), config) });
    [desk, browser] = await Promise.all([startDesk(world), startBrowser()]);
  }, LIMIT_MS);
  afterAll(async () => {
    await browser?.close();
    await desk?.stop();
    await Promise.all([world?.stop(), vendor?.stop()]);
  });

  test(
    'shows the sources of each reply as it comes, and those of the stored one in their place when the run has ended',
    async () => {
      const run = await world.start({ runId: 'cited', replies: [] });
      const { askId } = await openAsk(run);
      const place = { url: desk.url, token: tokenOf('rita'), path: '/runs/cited' };
      const { page, faults, context } = await visit(browser, place);
      const timeline = page.getByRole('tabpanel', { name: 'Timeline' });
      await timeline.getByText('Sources (1)').waitFor();
      await page.getByRole('tab', { name: 'Conversation' }).click();
      const panel = page.getByRole('tabpanel', { name: 'Conversation' });
      await panel.getByText('So far, as the events tell it.').waitFor();
      await panel.getByText('Sources (1)').press('Enter');
      expect(await panel.getByRole('link').getAttribute('href')).toBe(URL);
      await panel.getByText('<b>Parcel</b>').waitFor();
      expect(await barriersOf(page)).toEqual([]);
      // Each who follows the run by the API is told them as well.
      const { body } = await desk.get('/v1/runs/cited/events');
      expect(body!['events']).toContainEqual(
        expect.objectContaining({
          type: 'model_response',
          sources: [expect.objectContaining({ url: URL })],
        }),
      );

      await run.answer(askId, { kind: 'text', value: 'Yes.' }, { by: 'rita' });
      await panel.getByText('I have written.').waitFor();
      await panel.getByText('So far, as the events tell it.').waitFor({ state: 'hidden' });
      expect(await panel.getByText('Sources (1)').count()).toBe(2);
      // What had the focus is gone: reading goes on in the conversation.
      const where = `document.activeElement?.closest('.transcript') !== null`;
      expect(await inPage<boolean>(page, where)).toBe(true);
      expect(await barriersOf(page)).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
      await world.ended(run);
    },
    LIMIT_MS,
  );
});
