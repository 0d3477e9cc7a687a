import fc from 'fast-check';
import { createOutput } from '../../../cli/terminal/output.js';
import { inertStream, inertText } from '../../../cli/render/index.js';
import { tokenPrinter } from '../../../cli/terminal/token-printer.js';
import type { RunEvent } from '../../../core/state/event.js';
import type { ModelDelta, StreamChunk, StreamEntry } from '../../../pure/stream.js';

const ESC = '\u001B';

function chunkOf(entry: StreamEntry | { readonly kind: 'gap' }): StreamChunk {
  return { call: 1, attempt: 1, messageId: 'm1', cursor: '1.1', ...entry };
}

const text = (piece: string, type: 'text' | 'thinking' = 'text'): StreamChunk =>
  chunkOf({ kind: 'delta', delta: { type, block: 0, text: piece } });
const ended = chunkOf({ kind: 'attempt_ended' });

function printed(chunks: readonly StreamChunk[], options = { json: false, colour: false }): string {
  let out = '';
  const output = createOutput({ out: (piece) => (out += piece), err: () => undefined }, options);
  const printer = tokenPrinter(output);
  for (const chunk of chunks) printer.chunk(chunk);
  output.line('NEXT');
  return out;
}

function silentPrinter() {
  const nowhere = { out: () => undefined, err: () => undefined };
  return tokenPrinter(createOutput(nowhere, { json: false, colour: false }));
}

function told(messageId: string): RunEvent {
  return { type: 'model_response', messageId, text: { text: 'Hello.' } } as RunEvent;
}

describe('what a model says', () => {
  test('is printed as it comes, behind a bar', () => {
    expect(printed([text('Hel'), text('lo.'), ended])).toBe('│ Hello.\nNEXT\n');
    expect(printed([text('Hel')])).toBe('│ Hel\nNEXT\n');
  });

  test('cannot pass for a line of ours', () => {
    const forged = '\n12:20:03    7 approval   wanted for pay\r\n\u2028approved\u0085yes';
    const lines = printed([text('Fine.'), text(forged), ended]).split('\n');
    expect(lines.slice(0, -2).every((line) => line.startsWith('│ '))).toBe(true);
    expect(lines.at(-2)).toBe('NEXT');
  });

  test('cannot steer the terminal, however it is cut into pieces', () => {
    const attack = `${ESC}[2Jwiped${ESC}]0;title\u0007\u009B31m\u202Egnp\u200B\b\b`;
    for (const pieces of [[attack], attack.split('')]) {
      const out = printed([...pieces.map((one) => text(one)), ended]);
      // eslint-disable-next-line no-control-regex
      expect(out).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B\u202E]/);
    }
  });

  test('is taken back by name when its attempt dies', () => {
    const reset = chunkOf({ kind: 'attempt_reset', reason: `Worker${ESC}[2JLost` });
    expect(printed([text('Half'), reset, text('Whole.'), ended])).toBe(
      '│ Half\nAttempt 1 is lost (WorkerLost): what it said does not count.\n│ Whole.\nNEXT\n',
    );
    expect(printed([chunkOf({ kind: 'gap' })])).toContain('was not kept');
  });

  test('is told apart from what it thinks; arguments of its calls are not its words', () => {
    const call: ModelDelta = { type: 'tool_use', block: 2, text: '{"a":1}', id: 'c', tool: 'pay' };
    const chunks = [text('Hm.', 'thinking'), text('Yes.'), chunkOf({ kind: 'delta', delta: call })];
    expect(printed(chunks, { json: false, colour: true })).toBe(
      `│ ${ESC}[2mHm.${ESC}[22m\n│ Yes.\nNEXT\n`,
    );
  });

  test('is one line of JSON for each chunk where JSON is wanted', () => {
    const chunk = text(`a\u202E${ESC}b`);
    const out = printed([chunk, ended], { json: true, colour: false });
    expect(out).not.toContain('\u202E');
    const [first, second] = out.trim().split('\n');
    expect(JSON.parse(first!)).toEqual({ type: 'stream_event', ...chunk });
    expect(JSON.parse(second!)).toMatchObject({ type: 'stream_event', kind: 'attempt_ended' });
  });

  test('is not told once more by its event, unless nobody saw it', () => {
    const printer = silentPrinter();
    expect(printer.rest(told('m1'))).toHaveProperty('text');
    printer.chunk(text('Hello.'));
    printer.chunk(ended);
    expect(printer.rest(told('m1'))).not.toHaveProperty('text');
  });

  test('is told whole by its event when a piece of it was missing', () => {
    const printer = silentPrinter();
    const started = chunkOf({ kind: 'attempt_started', eventsBefore: 1 });
    for (const chunk of [started, text('Hel'), chunkOf({ kind: 'gap' }), ended]) {
      printer.chunk(chunk);
    }
    expect(printer.rest(told('m1'))).toHaveProperty('text');
    for (const chunk of [started, text('Hello.'), ended]) printer.chunk(chunk);
    expect(printer.rest(told('m1'))).not.toHaveProperty('text');
  });

  test('is not told twice however much was said before', () => {
    const printer = silentPrinter();
    for (let number = 0; number < 3_000; number += 1) {
      const messageId = `m${number}`;
      for (const chunk of [text('Hello.'), ended]) printer.chunk({ ...chunk, messageId });
      expect(printer.rest(told(messageId))).not.toHaveProperty('text');
    }
  });
});

test('a text in pieces is made inert as the whole text would be', () => {
  const unit = fc.constantFrom('a', '\r', '\n', '😀', '\u0301', ESC, '[2J', '\u2028', 'e', '\t');
  fc.assert(
    fc.property(fc.array(fc.array(unit, { maxLength: 8 })), (pieces) => {
      const texts = pieces.map((units) => units.join(''));
      // Cut anywhere, also in the middle of a character.
      const halves = texts.flatMap((one) => [
        one.slice(0, one.length / 2),
        one.slice(one.length / 2),
      ]);
      const stream = inertStream();
      const shown = halves.map((half) => stream.push(half)).join('') + stream.end();
      expect(shown).toBe(inertText(texts.join('')));
    }),
  );
});
