import { readInvestigation } from '../../examples/refund/business/investigation';
import type { RunResult } from '../../workflows/index';

function answered(text: string | undefined, rest: Partial<RunResult> = {}): RunResult {
  const result = { completed: true, stopReason: 'completed', ...rest };
  return (text === undefined ? result : { ...result, answer: { text } }) as RunResult;
}

const GOOD = { supported: true, orderId: 'O-104', amountCents: 8950, reason: 'late' };

describe('reading what the investigator says', () => {
  test.each([
    ['plain JSON', JSON.stringify(GOOD)],
    ['a code fence', `Here it is:\n\`\`\`json\n${JSON.stringify(GOOD, null, 2)}\n\`\`\``],
  ])('takes a clear recommendation from %s', (_name, text) => {
    expect(readInvestigation(answered(text), 'O-104')).toEqual({
      supported: true,
      amountCents: 8950,
      reason: 'late',
    });
  });

  test.each([
    ['no answer', undefined],
    ['no JSON', 'Yes, refund it.'],
    ['broken JSON', '{"supported": true'],
    ['another order', JSON.stringify({ ...GOOD, orderId: 'O-105' })],
    ['a word instead of a boolean', JSON.stringify({ ...GOOD, supported: 'yes' })],
    ['an amount as text', JSON.stringify({ ...GOOD, amountCents: '8950' })],
    ['a fraction of a cent', JSON.stringify({ ...GOOD, amountCents: 0.5 })],
    ['nothing to pay', JSON.stringify({ ...GOOD, amountCents: 0 })],
    ['a list', '[{"supported": true}]'],
    ['null', '{null}'],
  ])('takes %s as no support', (_name, text) => {
    expect(readInvestigation(answered(text), 'O-104')).toMatchObject({
      supported: false,
      amountCents: 0,
    });
  });

  test('an investigation that stopped supports nothing, whatever it said', () => {
    const stopped = answered(JSON.stringify(GOOD), { completed: false, stopReason: 'max_cost' });
    expect(readInvestigation(stopped, 'O-104')).toMatchObject({ supported: false });
  });
});
