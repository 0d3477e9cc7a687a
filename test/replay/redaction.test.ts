/** A redacted run has nothing left of what was hidden, and replays exactly, or there is none. */
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { parseBundle } from '../../replay/read-bundle.js';
import { markerFor } from '../../replay/redaction/marker.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { replayRun } from '../../replay/strict-replay.js';
import { documentValues, stored } from './setup.js';

const NAME = 'Petra Quitzow';
const MAIL = 'petra.quitzow@mail.example';
const IBAN = 'DE02120300000000202051';
const SALT = 'salt';

const rules = (...list: readonly object[]) => parseRules({ rules: list }, 'rules.json');

let bundle: Bundle;
beforeAll(async () => {
  bundle = await stored('long-text');
});

/** Everything that the bundle says, payloads opened. */
const content = async (one: Bundle): Promise<string> =>
  JSON.stringify(await documentValues(one)) + bundleText(one);

test('a rule whose own name is a text that it hides is to be given another name', async () => {
  const hides = rules({ name: 'petra', regex: '[Pp]etra' }, { name: 'rest', key: 'customer' });
  const refused = redactBundle(bundle, hides, { salt: SALT });
  await expect(refused).rejects.toMatchObject({
    code: 'RedactionRefused',
    message: expect.not.stringContaining('petra'),
    hint: expect.stringContaining('another name'),
  });
});

test('a text that a rule of an earlier redaction is named by sends back to the run', async () => {
  const once = await redactBundle(bundle, rules({ name: 'quitzow', key: 'iban' }), { salt: SALT });
  const again = redactBundle(once, rules({ name: 'person', regex: '[Qq]uitzow' }), { salt: SALT });
  await expect(again).rejects.toMatchObject({
    code: 'RedactionRefused',
    message: expect.stringMatching(/^The bundle was redacted before, (?!.*quitzow)/),
    hint: expect.stringContaining('Export the run once more'),
  });
});

describe('hiding texts', () => {
  let redacted: Bundle;
  beforeAll(async () => {
    redacted = await redactBundle(
      bundle,
      rules(
        { name: 'names', key: 'customer' },
        { name: 'mail', regex: '[\\w.]+@[\\w.]+\\w' },
        { name: 'account', pointer: '/call/args/iban' },
      ),
      { salt: SALT },
    );
  });

  test('leaves nothing of them: in payloads, messages, events and large texts', async () => {
    const before = await content(bundle);
    const after = await content(redacted);
    for (const hidden of [NAME, MAIL, IBAN]) {
      expect(before).toContain(hidden);
      expect(after).not.toContain(hidden);
    }
  });

  test('gives a bundle that can be written, read and replayed', async () => {
    const again = parseBundle(bundleText(redacted), 'redacted.json');
    expect(await replayRun(again)).toMatchObject({ equal: true });
    expect(Object.keys(again.nodes)).toHaveLength(Object.keys(bundle.nodes).length);
  });

  test('says which rule has hidden something where, and never what', () => {
    expect(redacted.redactions.map(({ rule }) => rule)).toEqual(['names', 'mail', 'account']);
    for (const { count, markers, places } of redacted.redactions) {
      expect(count).toBeGreaterThan(1);
      expect(markers.length).toBeGreaterThan(0);
      expect(places[0]).toMatch(/^\/(segments|events|nodes|blobs)\//);
    }
    expect(redacted.redactions[1]!.markers).toContain(markerFor(MAIL, SALT, 0));
  });

  test('renames the digests of calls: nobody can try texts out against them', async () => {
    const before = JSON.stringify(await documentValues(bundle));
    const digests = new Set(before.match(/"digest":"[0-9a-f]{64}"/g));
    const after = JSON.stringify(await documentValues(redacted));
    // The refund names the account; the read of the order has nothing to hide.
    const gone = [...digests].filter((digest) => !after.includes(digest));
    expect(gone.length).toBeGreaterThan(0);
    expect(gone.length).toBeLessThan(digests.size);
  });

  test('with another salt gives other markers', async () => {
    const one = { name: 'mail', regex: MAIL.replaceAll('.', '\\.') };
    const [first, second] = [
      await redactBundle(bundle, rules(one)),
      await redactBundle(bundle, rules(one)),
    ];
    expect(first.redactions[0]!.markers).not.toEqual(second.redactions[0]!.markers);
  });
});

test('the name of a tool can be hidden like any other text: what follows from it is renamed', async () => {
  const redacted = await redactBundle(bundle, rules({ name: 'tool', regex: 'issue_refund' }), {
    salt: SALT,
  });
  expect(await content(redacted)).not.toContain('issue_refund');
});

describe('what cannot be hidden', () => {
  test.each([
    [
      'a text that the code has as well',
      { name: 'ends', regex: 'final_answer' },
      /decides something/,
    ],
    ['a number', { name: 'amounts', key: 'amount' }, /only text can be hidden/],
    ['a text too short to be found again', { name: 'order', regex: '50' }, /too short/],
    ['a word of the protocol', { name: 'words', regex: 'approve' }, /decides something|remain/],
  ])('%s is refused', async (_what, rule, message) => {
    await expect(redactBundle(bundle, rules(rule), { salt: SALT })).rejects.toMatchObject({
      code: 'RedactionRefused',
      message: expect.stringMatching(message),
    });
  });

  test('a run that does not replay is not redacted', async () => {
    const [segment] = bundle.segments;
    const events = segment!.events.map((event) =>
      event.timerStartedEventAttributes === undefined
        ? event
        : {
            ...event,
            timerStartedEventAttributes: {
              ...(event.timerStartedEventAttributes as object),
              startToFireTimeout: '1s',
            },
          },
    );
    const broken = { ...bundle, segments: [{ ...segment!, events }] };
    await expect(
      redactBundle(broken, rules({ name: 'mail', regex: '@mail' }), { salt: SALT }),
    ).rejects.toMatchObject({ code: 'RedactionRefused' });
  });

  test.each([
    ['no list', {}],
    ['an unknown kind', { rules: [{ name: 'a', glob: '*' }] }],
    ['a pattern that is none', { rules: [{ name: 'a', regex: '(' }] }],
    ['a pattern that matches nothing', { rules: [{ name: 'a', regex: 'x*' }] }],
    [
      'a name twice',
      {
        rules: [
          { name: 'a', key: 'b' },
          { name: 'a', key: 'c' },
        ],
      },
    ],
  ])('rules with %s are refused', (_what, document) => {
    expect(() => parseRules(document, 'rules.json')).toThrow(
      expect.objectContaining({ code: 'Usage' }),
    );
  });
});

test('a marker has the size of its text, and what JSON escapes stays', () => {
  for (const text of [
    'abcd',
    'Zürich',
    '王小明在这里',
    'a "b"\nc\\d',
    '🎉🎉 party',
    'x'.repeat(500),
  ]) {
    const marker = markerFor(text, SALT, 0);
    expect(marker).not.toBe(text);
    expect(marker).toHaveLength(text.length);
    expect(Buffer.byteLength(marker)).toBe(Buffer.byteLength(text));
    expect(JSON.stringify(marker)).toHaveLength(JSON.stringify(text).length);
    expect(markerFor(text, SALT, 0)).toBe(marker);
    expect(markerFor(text, 'other', 0)).not.toBe(marker);
  }
  expect(markerFor('the customer asked for this', SALT, 0)).toMatch(
    /^\[redacted:[0-9a-f]{8}\]\*+$/,
  );
});
