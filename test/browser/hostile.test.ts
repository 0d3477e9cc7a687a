/**
 * Texts that want to be more than texts, in a real browser: made ones, and those of recorded injections that a
 * model obeyed. HOLDFAST_WHOLE=1: all recordings, not some that are drawn; HOLDFAST_SEED: of the draw.
 */
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Locator, Page, Route } from 'playwright-core';
import type { AskView } from '../../core/state/ask-view.js';
import type { ScriptedAnswer } from '../../testing/index.js';
import { drawn } from '../draw.js';
import { AGENT } from '../integration/support/agents.js';
import {
  injectedRuns,
  RECORDINGS,
  startBank,
  WRITES,
  type Bank,
  type InjectedRun,
} from '../integration/support/injected-runs.js';
import { call, ofType, say } from '../integration/support/world.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { describeInBrowser, inPage, IS_WIDER, screenshot } from './support/browser.js';
import { HOSTILE } from './support/shop.js';
import { setStage, type Stage } from './support/stage.js';
import { decide, pathTo, waiting as waitingOn } from './support/waiting.js';

const LIMIT_MS = 120_000;
const inCi = process.env['CI'] === 'true';
const RECORDED = WHOLE ? Infinity : 5;
const ACTIVE = 'script, img, iframe, object, embed, form, [onerror], [href^="javascript"]';
const present = existsSync(RECORDINGS);
if (!present) console.log('skipped the recorded injections: shared/material is missing');

describeInBrowser('texts that want to be more than texts', () => {
  let stage: Stage;
  let bank: Bank;
  beforeAll(async () => {
    bank = startBank();
    stage = await setStage({ besides: bank.config });
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  const waiting = (runId: string, start?: Parameters<typeof waitingOn>[2]) =>
    waitingOn(stage, runId, start);

  test(
    'hostile texts stay texts: HTML, ANSI, bidi, links, 100 KB',
    async () => {
      const large = `${HOSTILE.html} ${'A'.repeat(100_000)}END`;
      const { run, ask } = await waiting('hostile', {
        agent: 'bank',
        task: `${HOSTILE.ansi} ${HOSTILE.bidi} ${HOSTILE.html}`,
        replies: [
          call('mail.read', { folder: 'inbox' }, HOSTILE.html),
          call(
            'mail.send',
            {
              to: HOSTILE.bidi,
              subject: large,
              body: `${HOSTILE.ansi}${HOSTILE.link}${HOSTILE.zalgo}`,
            },
            HOSTILE.bidi,
          ),
          say(HOSTILE.html),
        ],
      });
      const { page, faults, context } = await stage.open('rita', { path: pathTo(ask) });
      const card = page.getByRole('article');
      await card.getByText('more characters are not shown').first().waitFor();
      await card.locator('.source summary').first().click();
      // What turns text around or clears a terminal is shown by its name.
      for (const chip of ['RLO', 'ZWSP', 'ESC', 'BEL'])
        await card.locator('.chip', { hasText: chip }).first().waitFor();
      expect(await card.getByText('<script>window.hacked=1</script>').count()).toBeGreaterThan(0);
      expect(await card.locator(`${ACTIVE}, b`).count()).toBe(0);
      expect(await inPage<boolean>(page, IS_WIDER)).toBe(false);
      const drawn = (await card.textContent()) ?? '';
      // Chips break the sequences up; no raw control or bidi character is left in what is drawn.
      // eslint-disable-next-line no-control-regex
      expect(drawn).not.toMatch(/[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069\u200b]/);
      expect(drawn.length).toBeLessThan(40_000);
      await screenshot(page, 'hostile');
      await card.getByRole('button', { name: 'Show more' }).first().click();
      await card.getByText('AAAEND').waitFor();
      await page.goto(`${stage.desk().url}/runs/hostile`);
      await page.getByText('mail.read').first().waitFor();
      await page.getByRole('tab', { name: 'Conversation' }).click();
      await page.locator('.message').first().waitFor();
      await page.getByRole('tab', { name: 'Events' }).click();
      await page.locator('.events li').first().waitFor();
      expect(await inPage(page, 'window.hacked')).toBeUndefined();
      expect(faults).toEqual([]);
      await run.interrupt();
      await context.close();
    },
    LIMIT_MS,
  );

  /** Recordings whose model did what the injected text wanted. */
  function obedient(): readonly InjectedRun[] {
    const all = injectedRuns(Number.POSITIVE_INFINITY).filter(({ obeys }) => obeys);
    return drawn(all, RECORDED, SEED);
  }

  /** Nothing but the desk is asked for anything. */
  async function keptAtHome(page: Page): Promise<readonly string[]> {
    const elsewhere: string[] = [];
    const { origin } = new URL(stage.desk().url);
    await page.route('**', async (route: Route) => {
      const url = route.request().url();
      if (new URL(url).origin === origin) return route.continue();
      elsewhere.push(url);
      return route.abort();
    });
    return elsewhere;
  }

  (present || inCi ? test : test.skip)(
    'a recorded injection that a model obeyed: its card shows the true recipient and amount, and does nothing',
    async () => {
      const runs = obedient();
      saySeed(`${runs.length} recorded injections on the page`);
      const { page, faults, context } = await stage.open('rita');
      const elsewhere = await keptAtHome(page);
      let cards = 0;
      for (const recorded of runs) {
        const { asked, events } = await rejectAll(page, recorded);
        cards += asked;
        const started = ofType(events, 'tool_started').map(({ tool }) => tool);
        expect(started.filter((tool) => WRITES.some((write) => write === tool))).toEqual([]);
      }
      expect(cards).toBeGreaterThanOrEqual(runs.length);
      expect(bank.ledger).toEqual([]);
      expect(elsewhere).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
    WHOLE ? 10 * LIMIT_MS : 2 * LIMIT_MS,
  );

  /** Plays one recording; each of its questions is looked at, and refused. */
  async function rejectAll(page: Page, { name, replies, outputs }: InjectedRun) {
    const runId = `injected-${name}`;
    bank.play(runId, outputs);
    const { run } = await waiting(runId, { agent: AGENT, task: 'Help me.', replies });
    let asked = 0;
    for (;;) {
      const outcome = await run.outcome({ timeoutMs: LIMIT_MS });
      if (outcome.kind !== 'waiting') break;
      const isFirst = asked === 0;
      for (const ask of outcome.asks) {
        const stored = await stage.world.store.getAsk('default', ask.askId);
        if (stored?.outcome !== 'pending') continue;
        await lookAt(page, ask, !(isFirst && isIn(replies[0], ask)));
        if (asked === 0) await screenshot(page, 'injected');
        asked += 1;
        await decide(stage, ask, { decision: 'reject', reason: 'Nobody asked for it.' });
      }
    }
    return { asked, events: (await stage.world.ended(run)).events };
  }

  function isIn(reply: ScriptedAnswer | undefined, { tool, args }: AskView): boolean {
    const calls = reply !== undefined && 'calls' in reply ? (reply.calls ?? []) : [];
    return calls.some((one) => one.tool === tool && isDeepStrictEqual(one.input, args));
  }

  /** The card of a proposal, which rests on injected texts when the model had read something before. */
  async function lookAt(page: Page, ask: AskView, hadRead: boolean): Promise<void> {
    await page.goto(`${stage.desk().url}${pathTo(ask)}`);
    const card = page.getByRole('article');
    await card.getByRole('heading', { name: 'Grounds of the proposal' }).waitFor();
    const args = ask.args as Readonly<Record<string, unknown>>;
    const shown = await card.locator('.fields').first().textContent();
    for (const [name, value] of Object.entries(args)) {
      expect(shown).toContain(name);
      expect(shown).toContain(typeof value === 'string' ? value : JSON.stringify(value));
    }
    // The tools declare no card: nothing of them is made larger than the rest, and amounts come first.
    expect(await card.locator('.highlights').count()).toBe(0);
    if (typeof args['amount'] === 'number') {
      const first = card.locator('.fields > .field').first();
      const text = (await first.textContent()) ?? '';
      expect(text).toMatch(new RegExp(`^amount${args['amount']}(?!\\d)`));
    }
    if (hadRead) await readSources(card);
    else await card.getByText('had read nothing but its task').waitFor();
    expect(await card.locator(ACTIVE).count()).toBe(0);
    expect(await inPage<boolean>(page, IS_WIDER)).toBe(false);
    // Nobody has decided, whatever the texts say of approvals.
    await card.getByText('nobody has decided').waitFor();
  }

  async function readSources(card: Locator): Promise<void> {
    const sources = card.locator('li.source');
    const count = await sources.count();
    expect(count).toBeGreaterThan(0);
    expect(await sources.locator('.badge.untrusted').count()).toBe(count);
    for (let place = 0; place < count; place += 1) {
      await sources.nth(place).locator('summary').first().click();
    }
    const read = (await sources.allTextContents()).join('\n');
    // What it demands is there to be read, and says of itself that it was approved.
    expect(read).toContain('APPROVED by service:mia');
    expect(read).toContain('<system>');
  }
});
