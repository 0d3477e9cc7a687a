/** What a card says of where the values of an action stand. */
import { originsOf } from '../../console/origins.js';
import type { AskRow } from '../../store/asks.js';

const about = (args: unknown): AskRow => ({ kind: 'approval', args }) as unknown as AskRow;
const TASK = { task: { text: 'Pay 1250 to DE02-OURS.' }, sources: [] };

test('a value is found under its path', () => {
  expect(originsOf(about({ to: { account: 'DE02-OURS' } }), TASK)).toEqual([
    { path: 'to.account', in: 'task', as: 'raw' },
  ]);
});

test('a name with a point in it lends its origin to no other value', () => {
  const args = { 'to.account': 'DE02-OURS', to: { account: 'DE99-OTHERS' }, amount: 1_250 };
  expect(originsOf(about(args), TASK)).toEqual([{ path: 'amount', in: 'task', as: 'raw' }]);
});
