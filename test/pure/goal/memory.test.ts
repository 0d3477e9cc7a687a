import type { CheckFacts } from '../../../core/state/goal/facts.js';
import type { Done } from '../../../core/state/goal/definition.js';
import type { ReviewAnswers } from '../../../core/state/goal/memory.js';
import type { RunEvent } from '../../../core/state/event.js';
import { heldByCheck, heldByState, measured } from '../../../pure/goal/conditions.js';
import { countsAsEvidence, parseEvidence } from '../../../pure/goal/evidence.js';
import { withEvidence, withPass, type PassFound } from '../../../pure/goal/log.js';
import { cutText, EMPTY_MEMORY, memoryIn, memoryText } from '../../../pure/goal/memory.js';

describe('ids of evidence', () => {
  test.each([
    ['c3/toolu_1', { id: { kind: 'call', cycle: 3, call: 'toolu_1' } }],
    ['c3.a2/x', { id: { kind: 'call', cycle: 3, below: [2], call: 'x' } }],
    ['c3.a2.a10/x', { id: { kind: 'call', cycle: 3, below: [2, 10], call: 'x' } }],
    ['check/open_invoices/4', { id: { kind: 'check', name: 'open_invoices', n: 4 } }],
    ['effect/g:c1:2', { id: { kind: 'effect', key: 'g:c1:2' } }],
    ['ask/g:g1', { id: { kind: 'ask', id: 'g:g1' } }],
    ['old#c1/x', { goal: 'old', id: { kind: 'call', cycle: 1, call: 'x' } }],
    ['c3/a#b', { id: { kind: 'call', cycle: 3, call: 'a#b' } }],
  ])('%s', (text, parsed) => {
    expect(parseEvidence(text)).toEqual(parsed);
  });

  test.each([
    '',
    'c0/x',
    'c1/',
    'c1',
    'check/x/0',
    'check//1',
    'effect/',
    'x',
    'a#b#c1/x',
    'c1x/y',
    'c1.a0/x',
    'c1.c2/x',
    'c1.a1.a1.a1.a1.a1.a1/x',
  ])('%j is none', (text) => {
    expect(parseEvidence(text)).toBeUndefined();
  });

  test('only what a tool returned here, with success, counts', () => {
    const event = {
      type: 'tool_finished',
      callId: 'x',
      tool: 'orders.read',
      status: 'ok',
      synthetic: false,
    } as RunEvent;
    const but = (changes: object) => countsAsEvidence({ ...event, ...changes } as RunEvent);
    expect(countsAsEvidence(event)).toBe(true);
    expect(but({ status: 'error' })).toBe(false);
    expect(but({ synthetic: true })).toBe(false);
    expect(but({ hosted: true })).toBe(false);
    expect(but({ tool: 'goal_note' })).toBe(false);
  });
});

describe('conditions on results and on the published state', () => {
  const done: Done = {
    all: [
      { check: 'open', path: 'count', equals: 0 },
      { check: 'open', lte: 5 },
      { state: 'report.lines', gte: 3 },
      { state: 'report', exists: true },
      { plan: 'complete' },
    ],
  };

  test('hold by their index', () => {
    expect(heldByCheck(done, 'open', { count: 0 })).toEqual([0]);
    expect(heldByCheck(done, 'open', 4)).toEqual([1]);
    expect(heldByCheck(done, 'other', { count: 0 })).toEqual([]);
    const inside = { report: { value: { lines: 3 }, cycle: 1 } };
    expect(heldByState(done, { state: inside })).toEqual([2, 3]);
    expect(heldByState(done, { state: { 'report.lines': { value: 9, cycle: 1 } } })).toEqual([2]);
    expect(heldByState(done, { state: {} })).toEqual([]);
  });

  test('never reach a prototype', () => {
    const hostile: Done = { any: [{ state: '__proto__', exists: true }] };
    expect(heldByState(hostile, { state: {} })).toEqual([]);
    expect(measured({}, 'constructor.length')).toBeUndefined();
  });

  test('a measurement is a finite number at its path', () => {
    expect(measured({ a: { b: 3 } }, 'a.b')).toBe(3);
    expect(measured({ a: '3' }, 'a')).toBeUndefined();
    expect(measured([3], '0')).toBeUndefined();
  });
});

describe('what a pass leaves in the memory', () => {
  const answer = { answer: 'yes', because: 'Still wanted.', evidence: ['c1/a'] };
  const answers = Object.fromEntries(
    [
      'objective_valid',
      'progress',
      'within_budget',
      'done',
      'approval_needed',
      'compact_or_handoff',
    ].map((question) => [question, answer]),
  ) as unknown as ReviewAnswers;
  const check: CheckFacts = { n: 2, known: true, held: [], value: 7, unknownCycles: 0, cycle: 1 };
  const found: PassFound = {
    cycle: 1,
    at: 50,
    checks: { open: check, dark: { ...check, known: false } },
    progress: [{ kind: 'measure', id: 'open', value: 7, best: 12 }],
    child: { n: 1, runId: 'g:c1', agent: 'matcher', stopReason: 'completed', costMicroUsd: 9 },
    review: { n: 1, at: 50, cycle: 1, answers, decision: 'goes on' },
  };

  test('is measurements, log, review, child and evidence, once', () => {
    const memory = withPass(EMPTY_MEMORY, found);
    expect(memory.measurements).toEqual({ open: [{ at: 50, cycle: 1, value: 7 }] });
    expect(memory.log.map(({ kind, text }) => [kind, text])).toEqual([
      ['cycle', 'Cycle 1 of matcher ended: completed.'],
      ['progress', 'Progress: open went from 12 to 7.'],
      ['review', 'Review 1: goes on. Still wanted.'],
    ]);
    expect(memory.log[1]?.evidence).toEqual(['check/open/2']);
    expect(memory.children).toHaveLength(1);
    expect(memory.reviews).toHaveLength(1);
    expect(memory.evidence).toEqual(['check/open/2']);
    expect(withPass(memory, found)).toEqual(memory);
  });

  test('has the newest results of checks, in their order, once', () => {
    let memory = EMPTY_MEMORY;
    for (let n = 1; n <= 30; n += 1) {
      const checks = { open: { ...check, n, digest: `hash ${n}` }, dark: found.checks.dark! };
      for (let time = 1; time <= 2; time += 1)
        memory = memoryIn(memoryText(withPass(memory, { ...found, checks })));
    }
    expect(memory.checkResults).toHaveLength(20);
    expect(memory.checkResults?.[0]).toEqual({ id: 'check/open/11', digest: 'hash 11' });
    expect(memory.checkResults?.at(-1)).toEqual({ id: 'check/open/30', digest: 'hash 30' });
  });

  test('stays small however many there are', () => {
    let memory = EMPTY_MEMORY;
    for (let n = 1; n <= 300; n += 1) {
      memory = withPass(memory, {
        ...found,
        cycle: n,
        checks: { open: { ...check, n, cycle: n, value: n } },
        child: { ...found.child!, n },
        review: { ...found.review!, n },
      });
    }
    expect(memory.log).toHaveLength(200);
    expect(memory.measurements.open).toHaveLength(100);
    expect(memory.reviews).toHaveLength(50);
    expect(memory.children).toHaveLength(50);
    expect(memory.evidence).toHaveLength(200);
    expect(memory.evidence.at(-1)).toBe('check/open/300');
  });

  test('an id of evidence is there once', () => {
    expect(withEvidence({ evidence: ['a', 'b'] }, ['b', 'c', 'c'])).toEqual(['a', 'b', 'c']);
  });
});

test('a memory comes back from its text, and a text is cut between characters', () => {
  expect(memoryIn(memoryText(EMPTY_MEMORY))).toEqual(EMPTY_MEMORY);
  expect(() => memoryIn('{"v":2}')).toThrow(/later release/);
  expect(cutText('ab🔑cd', 4)).toBe('ab…');
});
