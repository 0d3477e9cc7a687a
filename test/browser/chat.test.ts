/** The page of `examples/next-chat` with the clients of both majors of the AI SDK, in Chromium. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { chatHandler, nodeListener } from '../../http/index.js';
import type { UiMessage } from '../../http/projection/index.js';
import { MAJORS, type Major } from '../http/clients.js';
import { AGENT, APPROVER } from '../integration/support/agents.js';
import { echo } from '../integration/support/chats.js';
import {
  ANY_RUN,
  pay,
  read,
  say,
  startWorld,
  until,
  type World,
} from '../integration/support/world.js';
import { describeInBrowser, startBrowser } from './support/browser.js';

const EXAMPLE = join(__dirname, '..', '..', 'examples', 'next-chat', 'app');
const PROJECTION = join(__dirname, '..', '..', 'http', 'projection', 'index.ts');

function pageOf(major: Major): string {
  const { outputFiles } = buildSync({
    stdin: {
      contents: `
        import { createRoot } from 'react-dom/client';
        import { LoadedChat } from '${EXAMPLE}/chat.tsx';
        const id = new URLSearchParams(location.search).get('chat');
        createRoot(document.body).render(<LoadedChat id={id} api="/chat" />);`,
      resolveDir: __dirname,
      loader: 'tsx',
    },
    alias: {
      '@ai-sdk/react': `ai-react-${major}`,
      ai: `ai-${major}`,
      'holdfast/http/projection': PROJECTION,
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    nodePaths: [join(__dirname, '..', '..', 'node_modules')],
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

describeInBrowser('a chat page', () => {
  let world: World;
  let server: Server;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    world = await startWorld();
    world.script(ANY_RUN, (request) => {
      const last = JSON.stringify(request.messages.at(-1)?.content);
      if (last.includes('tool_result')) return say('That is done.');
      if (last.includes('Look.')) return { ...read('cup'), text: 'I look.' };
      return last.includes('Pay.') ? pay('pay.asked', 700) : echo(request);
    });
    const listen = nodeListener(
      chatHandler({
        client: world.client,
        agent: AGENT,
        ownDecisions: true,
        authorize: () => ({ actor: { id: APPROVER.by, roles: APPROVER.roles } }),
      }),
    );
    const pages = new Map(MAJORS.map((major) => [`/${major}`, pageOf(major)]));
    server = createServer((incoming, outgoing) => {
      const { pathname } = new URL(incoming.url ?? '/', 'http://localhost');
      const script = pages.get(pathname);
      if (script === undefined) return void listen(incoming, outgoing);
      outgoing.setHeader('content-type', 'text/html; charset=utf-8');
      outgoing.end(
        `<!doctype html><body><script>${script.replaceAll('</script', '<\\/script')}</script>`,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    await world?.stop();
  });

  const send = async (page: Page, text: string, button = 'Send') => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: button, exact: true }).click();
  };
  const atRest = (page: Page) => page.locator('main[data-status=ready]').waitFor();
  /** Who said what, in the order of the page. */
  const shown = async (page: Page) => {
    const said = page.locator('li');
    return Promise.all(
      (await said.all()).map(async (one) => {
        const texts = await one.locator('p').allTextContents();
        const tools = await one.locator('section').all();
        const states = await Promise.all(tools.map((tool) => tool.getAttribute('data-state')));
        return { role: await one.getAttribute('data-role'), text: texts.join(''), states };
      }),
    );
  };
  const stored = async (id: string) => {
    const response = await fetch(`${origin}/chat/${id}/messages`);
    const { messages } = (await response.json()) as { readonly messages: readonly UiMessage[] };
    return messages.map(({ role, parts }) => ({
      role,
      text: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
      states: parts.flatMap((part) => ('toolCallId' in part ? [part.state] : [])),
    }));
  };

  test.each(MAJORS)(
    'of %s sends, shows tools, asks, stops, is changed, and goes on when it is loaded anew',
    async (major) => {
      const id = `page-${major}`;
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(error.message));
      await page.goto(`${origin}/${major}?chat=${id}`);
      await send(page, 'Look.');
      await page.getByText('That is done.').waitFor();
      await atRest(page);
      expect(await shown(page)).toEqual(await stored(id));

      await send(page, 'Pay.');
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      // The question is still there when the page is loaded anew.
      await page.reload();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('That is done.').nth(1).waitFor();
      await atRest(page);
      expect(await shown(page)).toEqual(await stored(id));

      await send(page, 'Slowly one.');
      await page.getByText('You say').waitFor();
      await page.reload();
      await page.getByText('You say one').waitFor();
      await atRest(page);
      expect(await shown(page)).toEqual(await stored(id));

      await send(page, 'Slowly two.');
      await page.getByText('You say').nth(1).waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await atRest(page);
      expect(await shown(page)).toEqual(await stored(id));

      await page.getByRole('button', { name: 'Edit' }).last().click();
      await send(page, 'Three.', 'Change');
      await page.getByText('You say Three').waitFor();
      await atRest(page);
      await page.getByRole('button', { name: 'Answer anew' }).click();
      await until('another answer', async () =>
        (await page.getByText('You say Three (b0003)').count()) > 0 ? true : undefined,
      );
      await atRest(page);
      expect(await shown(page)).toEqual(await stored(id));
      expect(await shown(page)).toHaveLength(8);
      expect(faults).toEqual([]);
      await page.close();
    },
  );
});
