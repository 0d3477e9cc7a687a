/** A rule that finds nothing is likelier misspelt than fulfilled: without a word to the contrary it is refused. */
import type { Bundle } from '../../replay/bundle.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { stored } from './setup.js';

const FOUND = { name: 'names', key: 'customer' };
const MISSED = { name: 'mails', key: 'e-mail' };
const EMPTY = { name: 'phones', pointer: '/call/args/phone' };

let bundle: Bundle;
beforeAll(async () => {
  bundle = await stored('long-text');
});

const rules = (...list: readonly object[]) => parseRules({ rules: list }, 'rules.json');

test('a rule that finds nothing is refused, with its name and what to do', async () => {
  await expect(redactBundle(bundle, rules(FOUND, MISSED, EMPTY))).rejects.toMatchObject({
    code: 'RedactionRefused',
    message: 'Nothing in the run matches these rules: mails, phones.',
    hint: expect.stringContaining('--allow-unmatched'),
    details: { unmatched: ['mails', 'phones'] },
  });
});

test('where rules may find nothing, the others still hide', async () => {
  const redacted = await redactBundle(bundle, rules(FOUND, MISSED), { allowUnmatched: true });
  expect(redacted.redactions).toMatchObject([
    { rule: 'names', count: expect.any(Number) },
    { rule: 'mails', count: 0, places: [] },
  ]);
  expect(redacted.redactions[0]!.count).toBeGreaterThan(0);
});

test('a rule that finds what another one hides already has found something', async () => {
  const again = { ...FOUND, name: 'again' };
  const redacted = await redactBundle(bundle, rules(FOUND, again));
  expect(redacted.redactions).toMatchObject([{ rule: 'names' }, { rule: 'again', count: 0 }]);
});
