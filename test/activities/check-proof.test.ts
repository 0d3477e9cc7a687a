/** What a start may wish for where the configuration has decisions proven. */
import type { SettingsOverrides } from '../../core/state/task.js';
import { attempt, failureFrom, RUN, startBed, type Bed } from './setup.js';

let bed: Bed | undefined;
afterEach(async () => {
  await bed?.end();
  bed = undefined;
});

async function open(configured: SettingsOverrides, wished: SettingsOverrides) {
  bed = await startBed({ settings: configured });
  return attempt(bed.activities().open_run, {
    v: 1,
    run: RUN,
    segment: 0,
    start: { v: 1, agent: 'helper', task: { goal: 'Do it.' }, settings: wished },
    events: [],
  });
}

const PROVEN: SettingsOverrides = { requireProof: true };
const EDITS: SettingsOverrides = { ...PROVEN, permissionMode: 'acceptEdits' };
const ORDERS: SettingsOverrides = { ...PROVEN, allowedTools: ['orders.*', 'refund'] };

test.each<[string, SettingsOverrides, SettingsOverrides, RegExp]>([
  ['to do without proofs', PROVEN, { requireProof: false }, /without proofs/],
  ['to unlock everything', PROVEN, { allowBypassPermissions: true }, /without proofs/],
  ['a tool without asking', PROVEN, { allowedTools: ['issue_refund'] }, /"issue_refund"/],
  ['every tool without asking', ORDERS, { allowedTools: ['orders.read', '*'] }, /asking: "\*"/],
  ['a wider pattern', ORDERS, { allowedTools: ['order*'] }, /"order\*"/],
  ['a pattern in place of a name', ORDERS, { allowedTools: ['refund*'] }, /"refund\*"/],
  ['a wider mode', PROVEN, { permissionMode: 'acceptEdits' }, /default to acceptEdits/],
  [
    'a mode that was planning',
    { ...PROVEN, permissionMode: 'plan' },
    { permissionMode: 'default' },
    /plan to default/,
  ],
  [
    'the widest mode, though it is unlocked',
    { ...PROVEN, allowBypassPermissions: true },
    { permissionMode: 'bypassPermissions' },
    /default to bypassPermissions/,
  ],
  ['grants for later calls', PROVEN, { allowStandingGrants: true }, /standing grants/],
])('a start may not wish for %s', async (_what, configured, wished, message) => {
  const failed = await failureFrom(open(configured, wished));
  expect(failed).toMatchObject({ type: 'InvalidTask', nonRetryable: true });
  expect(failed.message).toMatch(message);
});

test.each<[string, SettingsOverrides, SettingsOverrides]>([
  ['less than is configured', ORDERS, { allowedTools: ['orders.read', 'orders.re*', 'refund'] }],
  ['nothing without asking', ORDERS, { allowedTools: [] }],
  ['a narrower mode', EDITS, { permissionMode: 'default' }],
  ['to plan', PROVEN, { permissionMode: 'plan' }],
  ['no questions, and so no approvals', PROVEN, { permissionMode: 'dontAsk' }],
  [
    'the configured grants',
    { ...PROVEN, allowStandingGrants: true },
    { allowStandingGrants: true },
  ],
  ['proofs of its own', {}, { requireProof: true, permissionMode: 'acceptEdits' }],
])('a start may wish for %s', async (_what, configured, wished) => {
  const { frozen } = await open(configured, wished);
  expect(frozen?.settings).toMatchObject({ requireProof: true, ...wished });
});
