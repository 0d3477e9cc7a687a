/**
 * Debian's Chromium, driven by playwright-core. Without it these tests are skipped, and say so; in CI that is a
 * failure.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const NAMES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];
const INSTALL = 'Chromium is missing: apt-get install chromium (or name it with CHROMIUM).';
const SCREENSHOTS = join(__dirname, '..', 'screenshots');

function chromiumPath(): string | undefined {
  return [process.env['CHROMIUM'], ...NAMES].find((path) => path !== undefined && existsSync(path));
}

/** Tests that need the browser. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (chromiumPath() !== undefined) {
    describe(name, tests);
    return;
  }
  if (process.env['CI'] === 'true') {
    test(`${name}: there is a browser`, () => {
      throw new Error(INSTALL);
    });
    return;
  }
  console.warn(`Skipped: ${name}. ${INSTALL}`);
  describe.skip(name, tests);
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error(INSTALL);
  return chromium.launch({ executablePath, args: ['--disable-dev-shm-usage'] });
}

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong in the page; policy violations too. */
  readonly faults: readonly string[];
}

export interface VisitOptions {
  readonly url: string;
  readonly token: string;
  readonly path?: string;
  readonly dark?: boolean;
  readonly phone?: boolean;
}

/** Longest wait for something on a page: a busy machine may need more than the half minute that is usual. */
const PAGE_LIMIT_MS = 90_000;
const DESKTOP = { width: 1360, height: 860 };
const PHONE = { width: 390, height: 844 };

/** Somebody with a browser of their own, logged in by a link. */
export async function visit(browser: Browser, options: VisitOptions): Promise<Visitor> {
  const { url, token, path = '/', dark = false, phone = false } = options;
  const context = await browser.newContext({
    viewport: phone ? PHONE : DESKTOP,
    colorScheme: dark ? 'dark' : 'light',
    ...(phone && { deviceScaleFactor: 2, hasTouch: true }),
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(PAGE_LIMIT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    const text = message.text();
    // What the network does is not the page's fault.
    if (message.type() === 'error' && !text.includes('Failed to load resource')) faults.push(text);
  });
  await page.goto(`${url}${path}#token=${token}`);
  return { page, context, faults };
}

/** Kept as artefacts, to be looked at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** What an expression is in the page: as text, because this program knows no types of browsers. */
export function inPage<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate<T>(expression);
}

/** Whether the page has to be moved sideways. */
export const IS_WIDER = 'document.documentElement.scrollWidth > window.innerWidth';
