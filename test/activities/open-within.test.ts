/** An opening within the task that decides always ends with an outcome, and asks nobody outside. */
import { createDeciderActivities } from '../../activities/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { OpenRunInput } from '../../core/state/effect.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import { attempt, RUN, startBed, type Bed } from './setup.js';

const QUICK = { effectId: 'open_run-1', ms: 1_000 } as const;
const input = (agent = 'helper'): OpenRunInput => ({
  v: 1,
  run: RUN,
  segment: 0,
  start: { v: 1, agent, task: { goal: 'Do it.' } },
  quick: QUICK,
  events: [],
});
const DIGEST = expect.stringMatching(/^[0-9a-f]{64}$/);
const elsewhere = (reason: string) => ({
  rules: RULES_VERSION,
  eventsUpTo: 0,
  elsewhere: reason,
  quick: { effectId: 'open_run-1', input: DIGEST },
});

let bed: Bed;
beforeAll(async () => void (bed = await startBed({ instructions: 'Be kind.' })));
afterAll(() => bed.end());

const open = (given = input(), changes: Parameters<Bed['activities']>[0] = {}) =>
  attempt(bed.activities(changes).open_run, given);

test('it gives what an ordinary opening gives, with its effect and a digest of all that it was given', async () => {
  const { quick: _, ...ordinary } = input();
  const whole = await open(ordinary);
  const { quick, ...output } = await open();
  expect(output).toEqual(whole);
  expect(quick).toEqual({ effectId: 'open_run-1', input: DIGEST });
  const other = await open({
    ...input(),
    start: { v: 1, agent: 'helper', task: { goal: 'Other.' } },
  });
  expect(other.quick!.input).not.toBe(quick!.input);
});

test('an opening that a gate judges is left to an ordinary activity, and the gate is not asked', async () => {
  const refuseTask = jest.fn(() => undefined);
  const gated = { ...bed.config, refuseTask };
  expect(await open(input(), { config: gated })).toMatchObject(elsewhere('outside'));
  expect(refuseTask).not.toHaveBeenCalled();
});

test.each([
  ['uses a connector', { mcp: ['crm'] }],
  ['begins with a folder', { seed: '/srv/starter' }],
  ['has a gate of its own', { refuseTask: () => undefined }],
])('so is that of an agent that %s', async (_, part) => {
  const agent = { ...bed.config.agents.get('helper')!, ...part };
  const config = { ...bed.config, agents: new Map([['helper', agent]]) };
  expect(await open(input(), { config })).toMatchObject(elsewhere('outside'));
});

test('what cannot be opened is left to the ordinary activity, which says why', async () => {
  expect(await open(input('nobody'))).toMatchObject(elsewhere('unserved'));
});

test('a store that cannot be reached is named', async () => {
  const together = () => Promise.reject(new HoldfastError('StoreUnavailable', 'It is away.'));
  const store = Object.assign(Object.create(bed.store) as Bed['store'], { together });
  expect(await open(input(), { store })).toMatchObject(elsewhere('store'));
});

test('a worker that decides and runs no code leaves it to those that do', async () => {
  const { open_run: decide } = createDeciderActivities();
  expect(await decide(input())).toMatchObject(elsewhere('unserved'));
});
