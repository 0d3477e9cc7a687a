import fc from 'fast-check';
import {
  parseDecision,
  parseModelName,
  parsePermissionMode,
  parseProvidedInput,
  parseThinkingTokens,
  parseUserMessage,
} from '../../../core/messages/parse-message.js';
import { wholeTexts } from '../../../core/loop/whole-texts.js';
import { parseStart } from '../../../core/messages/parse-start.js';
import type { OpenRun, Run } from '../../../core/state/run.js';
import { CHANGES, RULES_VERSION } from '../../../core/step/changes.js';

const DECISION = { askId: 'r:1', argsHash: 'h', decision: 'approve', by: 'pat', decidedAt: 1 };
const PARSERS = {
  parseDecision,
  parseModelName,
  parsePermissionMode,
  parseProvidedInput,
  parseStart,
  parseThinkingTokens,
  parseUserMessage,
};

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe('a decision', () => {
  test('is taken with its defaults', () => {
    expect(parseDecision({ ...DECISION, extra: 1 })).toEqual({
      ok: true,
      value: { v: 1, ...DECISION, roles: [] },
    });
  });

  test('without a hash is vague, not malformed', () => {
    const { argsHash: _, ...vague } = DECISION;
    expect(parseDecision(vague)).toMatchObject({ ok: true, value: { argsHash: '' } });
  });

  test.each([
    ['askId', ''],
    ['askId', 'x'.repeat(401)],
    ['decision', 'maybe'],
    ['decision', '__proto__'],
    ['by', ' '],
    ['decidedAt', 1.5],
    ['decidedAt', '2020-01-01'],
    ['decidedAt', Number.NaN],
    ['argsHash', 7],
    ['roles', 'admin'],
    ['roles', Array.from({ length: 51 }, () => 'r')],
    ['roles', [1]],
    ['reason', {}],
    ['value', nested(70)],
    ['value', nested(100_000)],
    ['value', Array.from({ length: 300_000 }, () => 0)],
    ['value', 'x'.repeat(20_000)],
  ])('with %s = %.20j is refused with a reason', (key, value) => {
    const parsed = parseDecision({ ...DECISION, [key]: value });
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining(key) });
  });

  test('has own properties only', () => {
    expect(parseDecision(Object.create(DECISION)).ok).toBe(false);
  });

  test('that could not be decoded says so', () => {
    expect(parseDecision({ $undecodable: 'bad bytes' })).toEqual({
      ok: false,
      reason: 'undecodable: bad bytes',
    });
  });
});

describe('a user message and an answer', () => {
  test('need text that is not blank and not endless', () => {
    expect(parseUserMessage({ text: 'hi', id: 'm1' })).toMatchObject({ ok: true });
    expect(parseUserMessage({ text: '\n ' }).ok).toBe(false);
    expect(parseUserMessage({ text: 'x'.repeat(16_385) }).ok).toBe(false);
    expect(parseUserMessage({ text: 'hi', id: '' }).ok).toBe(false);
    expect(parseUserMessage('hi').ok).toBe(false);
  });

  test('may be any small JSON', () => {
    expect(parseProvidedInput({ askId: 'a', value: null })).toMatchObject({
      ok: true,
      value: { by: 'unknown' },
    });
    expect(parseProvidedInput({ askId: 'a' }).ok).toBe(false);
  });
});

describe('the start of a run', () => {
  const start = { v: 1, agent: 'refund', task: { goal: 'Refund order 1' } };

  test('is taken as it stands', () => {
    expect(parseStart(start)).toEqual({ ok: true, value: start });
  });

  test.each([
    ['no object', 'x'],
    ['another version', { ...start, v: 2 }],
    ['no agent', { ...start, agent: '' }],
    ['no task', { ...start, task: null }],
    ['S21: a blank goal', { ...start, task: { goal: ' ' } }],
    ['no goal', { ...start, task: {} }],
    ['an inherited goal', { ...start, task: Object.create({ goal: 'x' }) as object }],
    ['a strange tenant', { ...start, tenant: 'a/b' }],
    ['undecodable bytes', { $undecodable: 'x' }],
  ])('with %s is refused', (_what, raw) => {
    expect(parseStart(raw)).toMatchObject({ ok: false, reason: expect.any(String) });
  });
});

test.each(Object.entries(PARSERS))('%s never throws, whatever comes', (_name, parse) => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, maxDepth: 4 }), (raw) => {
      expect(typeof parse(raw).ok).toBe('boolean');
    }),
  );
});

describe('what only some decisions carry', () => {
  const modify = { ...DECISION, decision: 'modify', args: { amount: 1 } };
  const replace = { ...modify, decision: 'replace', tool: 'write_note' };
  const grant = {
    matcher: { tool: 'issue_refund', when: [{ path: 'amount', lte: 5 }] },
    uses: 3,
    expiresInMs: 1_000,
  };

  test.each([
    ['a correction', modify],
    ['a replacement', replace],
    ['an amount', { ...DECISION, amount: 5 }],
    ['a grant', { ...DECISION, grant }],
  ])('%s is taken', (_what, decision) => {
    expect(parseDecision(decision)).toEqual({ ok: true, value: { v: 1, roles: [], ...decision } });
  });

  test('elsewhere it is dropped', () => {
    const extras = { args: {}, tool: 'x', amount: 5, grant };
    const reject = { ...DECISION, decision: 'reject' };
    expect(parseDecision({ ...reject, ...extras })).toEqual({
      ok: true,
      value: { v: 1, roles: [], ...reject },
    });
  });

  test.each([
    ['no arguments', { ...modify, args: undefined }, 'args'],
    ['endless arguments', { ...modify, args: 'x'.repeat(8_191) }, 'args'],
    ['arguments without a floor', { ...modify, args: nested(100_000) }, 'args'],
    ['no tool', { ...replace, tool: undefined }, 'tool'],
    ['a blank tool', { ...replace, tool: ' ' }, 'tool'],
    ['an amount of nothing', { ...DECISION, amount: 0 }, 'amount'],
    ['half an amount', { ...DECISION, amount: 0.5 }, 'amount'],
    ['an amount in words', { ...DECISION, amount: '5' }, 'amount'],
    [
      'a grant of everything',
      { ...DECISION, grant: { ...grant, matcher: { tool: 'x' } } },
      'grant',
    ],
    [
      'a grant that compares with nothing',
      { ...DECISION, grant: { ...grant, matcher: { tool: 'x', when: [{ path: 'a' }] } } },
      'grant',
    ],
    ['a grant without an end', { ...DECISION, grant: { ...grant, uses: Infinity } }, 'grant'],
    ['a grant for ever', { ...DECISION, grant: { ...grant, expiresInMs: 1e15 } }, 'grant'],
  ])('%s is refused with a reason', (_what, decision, word) => {
    expect(parseDecision(decision)).toMatchObject({
      ok: false,
      reason: expect.stringContaining(word),
    });
  });
});

test('a permission mode is one of those there are', () => {
  expect(parsePermissionMode('plan')).toEqual({ ok: true, value: 'plan' });
  for (const raw of ['yolo', '', null, { mode: 'plan' }, 'constructor']) {
    expect(parsePermissionMode(raw)).toMatchObject({ ok: false });
  }
});

describe('a text with half of a surrogate pair', () => {
  const half = String.fromCharCode(0xd83d);
  const known = { rules: RULES_VERSION, frozen: {} } as unknown as OpenRun;
  const message = (text: string) => ({ text, id: 'm1' });
  const read = (raw: unknown, run: Parameters<typeof wholeTexts>[0] = known) =>
    wholeTexts(run, raw, parseUserMessage(raw));

  test('is refused, wherever it stands in what counts', () => {
    expect(read(message('All of it: \u{1F600}')).ok).toBe(true);
    expect(read(message(`Part ${half}`))).toMatchObject({ ok: false });
    expect(read({ ...message('fine'), [half]: half })).toMatchObject({ ok: true });
    const answer = { askId: 'a', value: { deep: [{ [half]: 1 }] } };
    expect(wholeTexts(known, answer, parseProvidedInput(answer))).toMatchObject({ ok: false });
    expect(wholeTexts(known, half, parseModelName(half))).toMatchObject({ ok: false });
  });

  test('is not made by cutting a long reason', () => {
    const reason = `${'x'.repeat(1_999)}\u{1F600}`;
    const raw = {
      askId: 'a',
      argsHash: '',
      decision: 'reject',
      by: 'mia',
      roles: [],
      decidedAt: 1,
    };
    const parsed = parseDecision({ ...raw, reason });
    expect(wholeTexts(known, { ...raw, reason }, parsed)).toMatchObject({ ok: true });
  });

  test('says what was wrong before that, where something was', () => {
    expect(read({ text: ' ' })).toEqual(parseUserMessage({ text: ' ' }));
  });

  test('is taken under older rules, also before the run knows its rules', () => {
    const { since } = CHANGES.wellFormedInputs;
    const text = message(half);
    expect(read(text, { ...known, rules: since - 1 }).ok).toBe(true);
    const unopened = { rules: 1 } as Run;
    expect(read(text, unopened).ok).toBe(true);
    expect(read(text, { ...unopened, begunWith: since - 1 }).ok).toBe(true);
    expect(read(text, { ...unopened, begunWith: since }).ok).toBe(false);
  });
});

describe('attachments of a message or a start', () => {
  const one = { $blob: 'a'.repeat(64), bytes: 400, mediaType: 'image/png' };
  const said = (attachments: unknown) => parseUserMessage({ text: 'See.', attachments });

  test('are references of known types, and nothing else of them is kept', () => {
    const parsed = said([{ ...one, name: 'a.png', extra: 'x' }]);
    expect(parsed).toEqual({
      ok: true,
      value: { text: 'See.', attachments: [{ ...one, name: 'a.png' }] },
    });
    expect(said([])).toEqual({ ok: true, value: { text: 'See.' } });
    const start = { v: 1, agent: 'a', task: { goal: 'g', attachments: [{ ...one, extra: 'x' }] } };
    expect(parseStart(start)).toMatchObject({ value: { task: { attachments: [one] } } });
  });

  test.each([
    ['x', /list of at most 20/],
    [Array.from({ length: 21 }, () => one), /list of at most 20/],
    [[null], /attachments\.0: it must be an object/],
    [[{ ...one, $blob: 'A'.repeat(64) }], /\$blob must be a hash/],
    [[{ ...one, mediaType: 'image/svg+xml' }], /mediaType must be one of/],
    [[{ ...one, mediaType: 'toString' }], /mediaType must be one of/],
    [[{ ...one, bytes: 0 }], /more than/],
    [[{ ...one, bytes: 5_000_100 }], /more than 3750000 bytes/],
    [[{ ...one, name: 'x'.repeat(101) }], /name must be/],
    [[{ ...one, pages: 601 }], /pages of a document must be/],
    [[{ ...one, textBytes: 0 }], /textBytes must be/],
    [[{ ...one, mediaType: 'application/pdf' }], /pages of a document must be/],
    [[{ ...one, seconds: 1.5 }], /seconds of a sound must be/],
    [[{ ...one, mediaType: 'audio/wav' }], /seconds of a sound must be/],
    [Array.from({ length: 6 }, () => ({ ...one, bytes: 4_999_000 })), /20000000 are allowed/],
  ])('are refused when they are anything else: %#', (attachments, words) => {
    expect(said(attachments)).toMatchObject({ ok: false, reason: expect.stringMatching(words) });
    const start = parseStart({ v: 1, agent: 'a', task: { goal: 'g', attachments } });
    expect(start).toMatchObject({ ok: false, reason: expect.stringMatching(words) });
  });
});
