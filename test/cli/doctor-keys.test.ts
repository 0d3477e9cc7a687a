/** Whose key it is that doctor tells of: that of this shell, or that of the workers, which call the models. */
import { keyCheck, type KeyFacts } from '../../cli/doctor/model-keys.js';

const none = new Set<string>();
const key = new Set(['anthropic']);
const told = (facts: Partial<KeyFacts>) => {
  const known = {
    provider: 'anthropic',
    mend: 'Set it.',
    here: none,
    there: undefined,
    served: true,
  };
  const { status, found } = keyCheck({ ...known, ...facts });
  return `${status}: ${found}`;
};

test.each<[string, Partial<KeyFacts>, string]>([
  ['a worker has it', { there: key }, 'ok: anthropic: the worker has it, this shell has not'],
  ['both have it', { there: key, here: key }, 'ok: anthropic: the worker has it'],
  [
    'this shell alone has it',
    { there: none, here: key },
    'broken: anthropic: set in this shell, and no worker has it',
  ],
  [
    'neither has it',
    { there: none },
    'broken: anthropic: neither the worker nor this shell has it',
  ],
  [
    'the worker does not say',
    {},
    'warning: anthropic: not set in this shell; the worker does not say what it has',
  ],
  [
    'no worker runs',
    { served: false },
    'broken: anthropic: not set in this shell, and no worker runs',
  ],
  [
    'no worker runs, and it is set',
    { served: false, here: key },
    'ok: anthropic: set in this shell',
  ],
])('%s', (_what, facts, says) => {
  expect(told(facts)).toBe(says);
});
