/** A reply that is repeated calls under one written id; the run numbers them, the case does not. */
import { callNameOf, inWrittenNames } from '../../evaluation/call-names.js';
import { caseOf, EXECUTION, observationWith } from './setup.js';

const calls = [{ id: 'a', tool: 'read_order', input: { orderId: 'A' } }];
const model = [{ repeat: 3, reply: { calls } }, { text: 'Done.' }];

function nameOf(expected: object, rest: object = {}) {
  return callNameOf(caseOf({ model, expected, ...rest }));
}

describe('the written name of a call', () => {
  test('is without the number that a repeated id got', () => {
    const name = nameOf({ completed: true });
    expect(['a', 'a_2', 'a_13', 'b_2', 'a_x'].map(name)).toEqual(['a', 'a', 'a', 'b_2', 'a_x']);
  });

  test('is the number with it where the case says so itself', () => {
    expect(nameOf({ attempts: { a_2: 1 } })('a_2')).toBe('a_2');
    const written = [...model, { calls: [{ ...calls[0], id: 'a_2' }] }];
    expect(nameOf({ completed: true }, { model: written })('a_2')).toBe('a_2');
  });

  test('an observation is told in these names, and one without numbers is left alone', () => {
    const plain = observationWith();
    const name = nameOf({ completed: true });
    expect(inWrittenNames(plain, name)).toBe(plain);
    const numbered = observationWith({
      executions: [{ ...EXECUTION, callId: 'a_2' }],
    });
    expect(inWrittenNames(numbered, name).executions).toMatchObject([{ callId: 'a' }]);
  });
});
