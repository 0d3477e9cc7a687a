/** Which files of the page are served, how large they are on their way, and that nothing else is. */
import { gunzipSync } from 'node:zlib';
import { readPage, type StaticPage } from '../../console/static-page.js';
import { builtPageFolder } from '../built-page.js';

/** Compressed, of everything that a first view needs. */
const FIRST_VIEW_BYTES_MAX = 60_000;
const PACKET_BYTES = 1_024;

let page: StaticPage;
beforeAll(async () => {
  page = await readPage(builtPageFolder());
});

const typeOf = (path: string): string | undefined =>
  page(path)?.headers.get('content-type') ?? undefined;

test('every file that the page names is there', async () => {
  const pending = ['/index.html'];
  const seen = new Set<string>();
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const response = page(path);
    expect([path, response?.status]).toEqual([path, 200]);
    const text = (await response?.text()) ?? '';
    if (path.endsWith('.html')) {
      for (const [, name] of text.matchAll(/(?:src|href)="(\/[^"]+\.\w+)"/g)) pending.push(name!);
    }
  }
  expect([...seen].sort()).toEqual(['/app.css', '/app.js', '/icon.svg', '/index.html']);
});

test('the first view needs less than 60 KB compressed, and is the same uncompressed', async () => {
  let bytes = 0;
  const script = (await page('/app.js')?.text()) ?? '';
  const parts = [...script.matchAll(/from"\.(\/part-\w+\.js)"|import"\.(\/part-\w+\.js)"/g)];
  const named = parts.flatMap(([, one, other]) => one ?? other ?? []);
  for (const path of ['/index.html', '/app.css', '/app.js', ...new Set(named)]) {
    const response = page(path, 'br;q=0, GZIP;q=0.5');
    const sent = new Uint8Array((await response?.arrayBuffer()) ?? []);
    bytes += sent.byteLength;
    // What goes into one packet either way is sent as it is.
    const isZipped = response?.headers.get('content-encoding') === 'gzip';
    const whole = (await page(path)?.text()) ?? '';
    expect([path, isZipped]).toEqual([path, Buffer.byteLength(whole) >= PACKET_BYTES]);
    const text = isZipped ? gunzipSync(sent) : Buffer.from(sent);
    expect(text.toString()).toBe(whole);
  }
  console.log(`The first view needs ${bytes} bytes, compressed.`);
  expect(bytes).toBeGreaterThan(5_000);
  expect(bytes).toBeLessThan(FIRST_VIEW_BYTES_MAX);
});

test.each([undefined, '', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.000'])(
  'who accepts %p gets files as they are',
  (accepted) => {
    expect(page('/app.js', accepted)?.headers.get('content-encoding')).toBeNull();
  },
);

test('a link to a question, a run or a goal is the page, whatever its id looks like', () => {
  const html = 'text/html; charset=utf-8';
  for (const path of [
    '/',
    '/runs',
    '/runs/order.2026.js',
    '/runs/a%3Ab',
    '/approvals/run.1%3A0',
    '/questions/x.css',
    '/inbox/run_1:0',
    '/goals',
    '/goals/invoices.2026/evidence/c1%2Fx.js',
  ]) {
    expect([path, typeOf(path)]).toEqual([path, html]);
  }
});

test('other paths are not there, and no path leads out of the folder', () => {
  for (const path of [
    '/nothing.js',
    '/../console.ts',
    '/styles/../../app.ts',
    '/app.tsx',
    '/data/api.ts',
    '/tsconfig.json',
    '/preact-license.txt',
    '/%2e%2e/x.json',
  ]) {
    expect([path, typeOf(path)]).toEqual([path, undefined]);
  }
});

test('it runs nothing but its own files: no inline script, style or handler, no other origin', async () => {
  const html = (await page('/index.html')?.text()) ?? '';
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:\/\//);
});

test('what draws charts is fetched only when somebody opens them', async () => {
  const reached = new Set<string>();
  const pending = ['/app.js'];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const script = (await page(path)?.text()) ?? '';
    expect([path, script.includes('u-over')]).toEqual([path, false]);
    // What is imported at once; the charts are imported with `import("…")`.
    for (const [, name] of script.matchAll(/(?:from|import)"\.(\/part-\w+\.js)"/g))
      pending.push(name!);
  }
  expect((await page('/app.css')?.text()) ?? '').toContain('.u-over');
});
