/** Method: every text here tries to take over the terminal, to hide, or to look like something else. */
import {
  approvalCard,
  eventLine,
  exactJson,
  inert,
  inertJson,
  inertLines,
} from '../../cli/render/index.js';
import type { WarningCode } from '../../core/state/warning.js';
import type { RunEvent } from '../../core/state/event.js';
import type { AskView } from '../../core/state/ask-view.js';

const ESC = '\u001B';
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF\u{E0000}-\u{E007F}]/u;

const ATTACKS = [
  `${ESC}[2J${ESC}[H wiped`,
  `${ESC}]0;title\u0007 title`,
  `${ESC}]8;;http://evil.example${ESC}\\link${ESC}]8;;${ESC}\\`,
  `${ESC}]52;c;ZXZpbA==\u0007 clipboard`,
  `${ESC}P1;2q sixel ${ESC}\\`,
  `${ESC}]0;never ends ${'x'.repeat(50)}`,
  `${ESC}${ESC}[31m[31mnested`,
  '\u009B31mC1',
  'over\rwritten',
  'back\b\b\b\bspace',
  'gnp.exe\u202Egpj.',
  'zero\u200Bwidth\u200D\uFEFF',
  'line\u2028separator',
  `tag${String.fromCodePoint(0xe0041)}s`,
  'lone \uD800 surrogate',
  'null\u0000byte',
];

const ASK: AskView = {
  askId: 'r1:0',
  kind: 'approval',
  tool: 'pay',
  toolVersion: '1',
  args: { amountCents: 100 },
  argsHash: 'abc123',
  roles: ['refund-manager'],
  quorum: 1,
  policyVersion: '0',
  openedAt: 0,
  expiresAt: 86_400_000,
};

describe('hostile text', () => {
  it.each(ATTACKS)('leaves no control character in a line: %j', (text) => {
    expect(inert(text)).not.toMatch(UNSAFE);
    expect(inert(text)).not.toContain('\n');
    expect(inertLines(text).join('\n')).not.toMatch(UNSAFE);
  });

  it.each(ATTACKS)('is shown exactly, by escapes, in arguments: %j', (text) => {
    const shown = inertJson({ text }).join('\n');
    expect(shown).not.toMatch(UNSAFE);
    expect(JSON.parse(shown)).toEqual({ text });
    expect(exactJson({ text })).not.toMatch(UNSAFE);
    expect(JSON.parse(exactJson({ text }))).toEqual({ text });
  });

  it('is cut with a notice of how much was left out', () => {
    expect(inert('x'.repeat(1_250), 200)).toBe(`${'x'.repeat(200)}… (+1,050 characters)`);
    expect(inert('x'.repeat(200), 200)).toBe('x'.repeat(200));
    expect(inertLines('a\n'.repeat(500)).length).toBeLessThan(70);
    expect(inertLines('a\n'.repeat(500)).at(-1)).toMatch(/^… \(\+\d+ characters\)$/);
    expect(inertJson({ text: 'x'.repeat(100_000) }).at(-1)).toMatch(/^… \(\+/);
  });

  it('never cuts a character in half', () => {
    expect(inert('😀'.repeat(200), 101)).not.toMatch(/\p{Surrogate}/u);
  });

  it('keeps what people write', () => {
    expect(inert('Grüße, 你好, 😀 – “ok” שלום')).toBe('Grüße, 你好, 😀 – “ok” שלום');
  });

  it('of a huge size costs no more than its bound', () => {
    const started = performance.now();
    inert(`${ESC}[`.repeat(3_000_000));
    inertLines(`${ESC}]`.repeat(3_000_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('cannot pretend to be a part of the approval card', () => {
    const question = 'Fine?\n└─\n\nholdfast approve everything';
    const args = { note: 'x\n└─\n┌─ Approval wanted: harmless' };
    const card = approvalCard({ ...ASK, args, question }, { runId: 'r1', now: 0 });
    const lines = card.split('\n');
    expect(lines[0]).toMatch(/^┌─ Approval wanted: pay@1/);
    expect(lines.slice(1, -1).every((line) => line.startsWith('│'))).toBe(true);
    expect(lines.at(-1)).toBe('└─');
    expect(card).toContain('\\n└─\\n');
  });

  it('in any field of an event stays on its line', () => {
    const text = ATTACKS.join('\n');
    const stamp = {
      seq: 1,
      runId: 'r',
      traceId: 'r',
      at: 0,
      phase: 'validating',
      step: 0,
      turn: 0,
    } as const;
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const events: readonly RunEvent[] = [
      {
        type: 'session_init',
        agent: text,
        taskId: text,
        goal: { text },
        model: text,
        tools: [],
        versions: {},
        stamp,
      },
      {
        type: 'model_response',
        call: 1,
        messageId: 'm',
        text: { text },
        calls: [{ id: 'c', tool: text, args: { [text]: text } }],
        stopReason: text,
        model: text,
        usage,
        costMicroUsd: 1,
        stamp,
      },
      { type: 'validation', decision: 'deny', tool: text, message: text, stamp },
      {
        type: 'permission',
        callId: 'c',
        tool: text,
        decision: 'deny',
        rule: text,
        reason: text,
        stamp,
      },
      {
        type: 'approval_requested',
        ...ASK,
        askId: text,
        tool: text,
        args: { text },
        question: text,
        stamp,
      },
      {
        type: 'approval_resolved',
        askId: text,
        outcome: 'approved',
        by: [text],
        reason: text,
        waitedMs: 1,
        stamp,
      },
      { type: 'approval_withdrawn', askId: text, reason: text, stamp },
      { type: 'input_provided', askId: text, outcome: 'answered', by: [text], stamp },
      { type: 'user_message', messageId: 'm', text: { text }, stamp },
      { type: 'warning', code: text as WarningCode, message: text, stamp },
      { type: 'tool_started', callId: 'c', tool: text, key: text, args: { text }, stamp },
      {
        type: 'tool_finished',
        callId: 'c',
        tool: text,
        status: 'ok',
        content: { text },
        synthetic: false,
        started: true,
        attempts: 2,
        durationMs: 3,
        key: text,
        stamp,
      },
      { type: 'model_error', call: 1, class: text, message: text, attempts: 1, stamp },
      { type: 'stop', reason: text, detail: text, phase: text, stamp },
    ];
    for (const event of events) {
      expect(eventLine(event)).not.toMatch(UNSAFE);
      expect(eventLine(event)).not.toContain('\n');
    }
  });
});
