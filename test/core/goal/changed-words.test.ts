/** Who decides nothing in a goal since rules 14, beside a goal of the rules before. */
import { asked, both, DAY_MS } from './both-rules.js';
import { count } from './shell.js';

const BEFORE = 13;
const EVERY_CYCLE = {
  before: 'every_cycle',
  roles: ['lead'],
  quorum: 1,
  expiresInMs: DAY_MS,
  onExpiry: 'stop',
} as const;

test('people whose words a cycle without a reply gave back do not decide on the next cycle', () => {
  const steered = both(
    {
      terms: { approval: [EVERY_CYCLE] },
      checks: { open: [count(9), count(9), count(0, [0])] },
      cycles: [{ outcome: { replied: false, stopReason: 'failed' } }, {}],
    },
    BEFORE,
  ).map((goal) => {
    goal.say({ type: 'steer', text: 'Oldest first.' }, 'rita').run(asked);
    goal.decideAsk('approve', 'dora', ['lead']).run(asked);
    return goal.of('approval_requested').map(({ steeredBy }) => steeredBy);
  });
  expect(steered).toEqual([
    [['rita'], ['rita']],
    [['rita'], undefined],
  ]);
});
