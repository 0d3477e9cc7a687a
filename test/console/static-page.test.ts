/** Which files of the page are served, and that nothing else is. */
import { join } from 'node:path';
import { readPage, type StaticPage } from '../../console/static-page.js';

const FOLDER = join(__dirname, '../../console/page');
let page: StaticPage;
beforeAll(async () => {
  page = await readPage(FOLDER);
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
    } else if (path.endsWith('.js')) {
      for (const [, name] of text.matchAll(/^(?:import|\} from).*'\.(\/[^']+)';$/gm)) {
        pending.push(name!);
      }
    }
  }
  expect(seen.size).toBeGreaterThan(30);
});

test('a link to a question or a run is the page, whatever its id looks like', () => {
  const html = 'text/html; charset=utf-8';
  for (const path of [
    '/',
    '/runs',
    '/runs/order.2026.js',
    '/runs/a%3Ab',
    '/approvals/run.1%3A0',
    '/questions/x.css',
    '/inbox/run_1:0',
  ]) {
    expect([path, typeOf(path)]).toEqual([path, html]);
  }
});

test('other paths are not there, and no path leads out of the folder', () => {
  for (const path of [
    '/nothing.js',
    '/../console.ts',
    '/styles/../../app.ts',
    '/api-types.d.ts',
    '/%2e%2e/x.json',
  ]) {
    expect([path, typeOf(path)]).toEqual([path, undefined]);
  }
});

test('it runs nothing but its own files: no inline script, style or handler, no other origin', async () => {
  const html = (await page('/index.html')?.text()) ?? '';
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:\/\//);
});
