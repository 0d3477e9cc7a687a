/** Sources of a reply on the page: whatever they hold, nothing but an address of the web is a link. */
import type { Browser } from 'playwright-core';
import type { Source } from '../../pure/sources.js';
import { bundled } from './support/bundled.js';
import { describeInBrowser, inPage, startBrowser } from './support/browser.js';

const LIMIT_MS = 60_000;
const MODULE = `
  export { h, render } from 'preact';
  export { Sources } from './parts/sources.js';
`;
const HTML = '<img src=x onerror="window.hacked=1"><b>Bank</b>';
const SOURCES: readonly Source[] = [
  {
    kind: 'url',
    url: 'https://a.example/x?y=<z>',
    title: HTML,
    passages: [{ text: `${HTML}\u202e`, unit: 'pages', from: 2, to: 3 }],
  },
  { kind: 'url', url: 'http://a.example/y', title: 'A' },
  // Nobody but a store that was tampered with has these.
  { kind: 'url', url: 'javascript:window.hacked=1' },
  { kind: 'url', url: 'https://bank.example@evil.example/' },
  { kind: 'document', title: 'https://b.example', mediaType: 'text/html', filename: 'x.html' },
];

describeInBrowser('sources of a reply', () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await startBrowser()), LIMIT_MS);
  afterAll(() => browser?.close());

  test(
    'are texts, and links where they lead to the web alone',
    async () => {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('pageerror', ({ message }) => faults.push(message));
      await inPage(
        page,
        `{
          const { h, render, Sources } = ${bundled(MODULE)};
          render(h(Sources, { sources: ${JSON.stringify(SOURCES)} }), document.body);
        }`,
      );
      await page.locator('summary').click();
      expect(await page.locator('summary').textContent()).toBe('Sources (5)');
      const links = await inPage<unknown>(
        page,
        `[...document.querySelectorAll('a')].map((one) =>
          ['href', 'rel', 'target'].map((name) => one.getAttribute(name)))`,
      );
      expect(links).toEqual([['http://a.example/y', 'noopener noreferrer nofollow', '_blank']]);
      expect(await page.locator('img, b, script, [onerror]').count()).toBe(0);
      expect(await inPage(page, 'window.hacked')).toBeUndefined();
      const shown = (await page.locator('ol').textContent()) ?? '';
      expect(shown).toContain('<b>Bank</b>');
      expect(shown).toContain('javascript:window.hacked=1');
      expect(shown).toContain('page 2');
      expect(shown).toContain('x.html');
      expect(shown).not.toContain('\u202e');
      expect(faults).toEqual([]);
      await page.close();
    },
    LIMIT_MS,
  );
});
