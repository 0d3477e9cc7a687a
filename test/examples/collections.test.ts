/** The collections: a quarter under virtual time, as somebody runs it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { morningOf } from '../../examples/collections/calendar.js';
import { openLedger } from '../../examples/collections/ledger.js';
import { endExample, startExample, type StartedExample } from './started-example.js';

let folder: string;
let example: StartedExample | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-example-'));
});
afterEach(async () => {
  if (example !== undefined) await endExample(example);
  example = undefined;
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

test('ninety days pass in seconds; the goal ends when the ledger has no old invoice without an agreement', async () => {
  example = startExample('collections', { folder });
  expect(await example.exit()).toBe(0);
  const output = example.output();
  const count = (pattern: RegExp): number => output.match(pattern)?.length ?? 0;
  // The first to a customer, and each of 1,000 EUR or more, waited for the lead.
  expect(count(/does +send_reminder .*INV-105/g)).toBe(3);
  expect(count(/asks +collections-lead: send_reminder .*INV-105/g)).toBe(1);
  expect(count(/does +send_reminder .*INV-104/g)).toBe(2);
  expect(count(/asks +collections-lead: send_reminder .*INV-104/g)).toBe(2);
  expect(count(/does +record_agreement/g)).toBe(count(/asks +collections-lead: record_agreement/g));
  for (const part of [
    /believes +old_invoices: 5 \(best 5\)/,
    /asks +collections-lead: ask_lead .*INV-103[^]*person +mia: answered/,
    /person +mia: rejected \(They called me/,
    /claims +pause: Nothing is to be expected before[^]*sleeps +until \w+/,
    /claims +blocked: Elm Garage/,
    /person +mia: “I have handed INV-105 to a collection agency\.”/,
    /believes +old_invoices: 0 \(best 0\)/,
    /collections completed\n“No invoice is older than 60 days/,
    /INV-104 +Dune Tours +1250\.00 EUR +2 +paid/,
    /8\d d \d+ h passed in/,
  ]) {
    expect(output).toMatch(part);
  }
});

test('says how it is used', async () => {
  example = startExample('collections', { folder, args: ['--week'] });
  expect(await example.exit()).toBe(1);
  expect(example.output()).toMatch(/Use: npm run example:collections -- \[--day \[--yes\]\]/);
});

test('the ledger keeps a reminder and an agreement once for each key', () => {
  const ledger = openLedger(':memory:', '2026-01-05');
  const reminder = { invoiceId: 'INV-101', day: '2026-01-05', text: 'Please pay.' };
  const agreement = {
    invoiceId: 'INV-101',
    until: '2026-02-01',
    because: 'asked',
    day: '2026-01-06',
    by: 'mia',
  };
  expect(ledger.remind('k', reminder)).toEqual(ledger.remind('k', reminder));
  expect(ledger.invoice('INV-101')?.reminded).toEqual(['2026-01-05']);
  const old = (day: string) => ledger.oldInvoices(day).map(({ invoiceId }) => invoiceId);
  expect(old('2026-01-06')).toContain('INV-101');
  expect(ledger.agree('a', agreement)).toEqual(
    ledger.agree('a', { ...agreement, until: '2027-01-01' }),
  );
  expect(old('2026-02-01')).not.toContain('INV-101');
  expect(old('2026-02-02')).toContain('INV-101');
  ledger.close();
});

test("a morning is eight o'clock of a working day, in winter and in summer", () => {
  expect(morningOf('2026-01-31')).toBe('2026-02-02T08:00:00+01:00');
  expect(morningOf('2026-06-10')).toBe('2026-06-10T08:00:00+02:00');
});
