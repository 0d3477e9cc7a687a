/** What a browser is served: how much of it, and under which policy; and that what breaks the rules would be seen. */
import { until } from '../integration/support/world.js';
import { barriersOf } from './support/barriers.js';
import { describeInBrowser, inPage } from './support/browser.js';
import { setStage, type Stage } from './support/stage.js';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const FIRST_VIEW_BYTES_MAX = 60_000;

interface Loaded {
  readonly name: string;
  readonly bytes: number;
}

/** Everything that the browser has fetched for the page but answers of the API, as it came over the wire. */
const LOADED = `performance.getEntries()
  .filter(({ entryType }) => entryType === 'navigation' || entryType === 'resource')
  .map(({ name, encodedBodySize }) => ({ name: new URL(name).pathname, bytes: encodedBodySize }))
  .filter(({ name }) => !name.startsWith('/v1/'))`;

describeInBrowser('what a browser is served', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({ worker: false });
  });
  afterAll(() => stage?.stop());

  test('the first view needs less than 60 KB on the wire', async () => {
    const { page, context } = await stage.open('rita');
    await page.getByText('Nothing waits.').waitFor();
    const loaded = await inPage<readonly Loaded[]>(page, LOADED);
    const names = loaded.map(({ name }) => name);
    for (const name of ['/', '/app.css', '/app.js']) expect(names).toContain(name);
    const bytes = loaded.reduce((sum, one) => sum + one.bytes, 0);
    console.log(`The first view took ${bytes} bytes: ${names.join(', ')}.`);
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThan(FIRST_VIEW_BYTES_MAX);
    await context.close();
  });

  test('the policy allows the page’s own files only, and what breaks it would be seen here', async () => {
    const { headers } = await stage.desk().get('/');
    expect(headers.get('content-security-policy')).toBe(POLICY);
    const { page, faults, context } = await stage.open('rita');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    expect(faults).toEqual([]);
    await inPage(
      page,
      `{ const style = document.createElement('style'); style.textContent = 'p {}'; document.body.append(style); }`,
    );
    await until('the fault', () =>
      Promise.resolve(faults.join(' ').includes('Content Security Policy') || undefined),
    );
    await context.close();
  });

  test('a barrier would be seen', async () => {
    const { page, context } = await stage.open('rita');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const pale = `document.documentElement.style.setProperty('--text-soft', '#aaa')`;
    await inPage(page, pale);
    const unlabelled = `document.querySelector('main').append(document.createElement('input')), undefined`;
    await inPage(page, unlabelled);
    const found = (await barriersOf(page)).join('\n');
    expect(found).toContain('light: label: #main > input');
    expect(found).toContain('light: color-contrast');
    await context.close();
  });
});
