/** Questions of a tool's server in a real browser: a form, choices, an address. */
import type { Page } from 'playwright-core';
import {
  startModernServer,
  type ModernServer,
  type ServedTool,
} from '../connectors/modern-server.js';
import { config } from '../integration/support/served-agents.js';
import { call, ofType, say } from '../integration/support/world.js';
import { describeInBrowser } from './support/browser.js';
import { setStage, type Stage } from './support/stage.js';
import { pathTo, waiting } from './support/waiting.js';

const LIMIT_MS = 120_000;
const STATE = 'sealed \u0000 "state" é';
const ADDRESS = 'https://crm.example/login?next=%2Fhome';

const asked: { readonly [what: string]: object } = {
  form: {
    mode: 'form',
    message: 'Who pays?',
    requestedSchema: {
      type: 'object',
      required: ['name', 'share'],
      properties: { name: { type: 'string' }, share: { type: 'integer', maximum: 100 } },
    },
  },
  choice: {
    mode: 'form',
    message: 'How?',
    requestedSchema: {
      type: 'object',
      required: ['how'],
      properties: { how: { type: 'string', enum: ['cash', 'card'] } },
    },
  },
  address: { mode: 'url', message: 'Log in.', url: ADDRESS, elicitationId: 'e1' },
};

const getContact: ServedTool = {
  name: 'get_contact',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  annotations: { readOnlyHint: true },
  run: ({ id }, { responses, state }) =>
    responses === undefined
      ? {
          resultType: 'input_required',
          requestState: STATE,
          inputRequests: { q: { method: 'elicitation/create', params: asked[String(id)] } },
        }
      : `${JSON.stringify(responses)} ${String(state === STATE)}`,
};

let stage: Stage;
let server: ModernServer;
const panelOf = (page: Page) => page.getByRole('region', { name: 'Decide' });

describeInBrowser('questions of a server', () => {
  beforeAll(async () => {
    server = await startModernServer([getContact]);
    stage = await setStage({ worker: false });
    await stage.world.serve({ config: config({ url: server.url }) });
  }, LIMIT_MS);
  afterAll(async () => {
    await stage?.stop();
    await server?.stop();
  });

  test.each(Object.keys(asked))(
    'a %s is answered on the page, and the answer goes back with the state',
    async (what) => {
      const { run, ask } = await waiting(stage, `elicited-${what}`, {
        agent: 'served',
        replies: [call('mcp__crm__get_contact', { id: what }), say('Done.')],
      });
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      const panel = panelOf(page);
      await panel.getByText('Your answer goes to that server.').waitFor();
      if (what === 'form') {
        await panel.getByLabel('name').fill('Ann');
        await panel.getByLabel('share').fill('400');
        await panel.getByRole('button', { name: 'Answer' }).click();
        await panel.getByText('share must be at most 100.').waitFor();
        const path = `/v1/questions/${encodeURIComponent(ask.askId)}/answers`;
        const sent = { value: { name: 'Ann', share: 400 } };
        const refused = await stage.desk().post(path, sent, { as: 'rita', key: 'too-much' });
        expect(refused.status).toBe(409);
        expect(JSON.stringify(refused.body)).toMatch(/share/);
        await panel.getByLabel('share').fill('40');
        await panel.getByRole('button', { name: 'Answer' }).click();
      } else if (what === 'choice') {
        await panel.getByRole('button', { name: 'card' }).click();
      } else {
        await panel.getByText(ADDRESS).waitFor();
        expect(await panel.getByRole('link').count()).toBe(0);
        await panel.getByRole('button', { name: 'I have been there' }).click();
      }
      const { events } = await stage.world.ended(run);
      const content = {
        form: '{"name":"Ann","share":40}',
        choice: '{"how":"card"}',
        address: undefined,
      }[what];
      const response =
        content === undefined ? '{"action":"accept"}' : `{"action":"accept","content":${content}}`;
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { status: 'ok', content: { text: `{"q":${response}} true` } },
      ]);
      expect(faults).toEqual([]);
      await context.close();
    },
    LIMIT_MS,
  );
});
