import { parseGoalMessage } from '../../../core/messages/parse-goal-message.js';

const base = { v: 1, id: 'm-1', by: 'ada', roles: ['lead'], at: 1_800_000_000_000 };

function parse(body: object): unknown {
  const parsed = parseGoalMessage({ ...base, ...body });
  return parsed.ok ? parsed.value : parsed.reason;
}

describe('what people say to a goal', () => {
  it.each([
    { type: 'pause' },
    { type: 'resume' },
    { type: 'wake' },
    { type: 'stop' },
    { type: 'stop', kid: 'desk-1', proof: 'c2ln' },
    { type: 'cancel' },
    { type: 'steer', text: 'Start with the oldest.' },
    { type: 'steer', text: 'Now.', wake: true },
    { type: 'review' },
    { type: 'review', objectiveValid: false, because: 'The customer has paid.' },
    { type: 'setBudget', budget: { maxCostMicroUsd: 5, maxCycles: 7 } },
    { type: 'setPlan', steps: [], revision: 0 },
    {
      type: 'setPlan',
      steps: [{ id: 'a', title: 'Read', status: 'done', note: 'n', evidence: ['c1/x'] }],
    },
    { type: 'setPace', pace: 'when_woken' },
    { type: 'setPace', pace: { everyMs: 60_000 } },
    { type: 'setPace', pace: { cron: '0 9 * * 1', timezone: 'UTC' } },
    { type: 'handoffGoal', goalId: 'goal-2' },
  ])('is read as it was said, also a second time: %j', (body) => {
    const once = parse(body);
    expect(once).toEqual({ ...base, ...body });
    expect(parseGoalMessage(once)).toEqual({ ok: true, value: once });
  });

  it('loses what its type does not carry', () => {
    expect(parse({ type: 'pause', text: 'x', budget: {}, extra: 1 })).toEqual({
      ...base,
      type: 'pause',
    });
  });

  it.each([
    [{}, 'type must be'],
    [{ type: 'shout' }, 'type must be'],
    [{ type: 'pause', id: '' }, 'id must be'],
    [{ type: 'pause', by: 7 }, 'by must name'],
    [{ type: 'pause', at: 0.5 }, 'at must be'],
    [{ type: 'pause', roles: 'lead' }, 'roles must be'],
    [{ type: 'pause', kid: {} }, 'kid must'],
    [{ type: 'pause', proof: 'x'.repeat(2_001) }, 'proof must'],
    [{ type: 'steer' }, 'text must be'],
    [{ type: 'steer', text: 'x'.repeat(4_001) }, 'at most 4000 characters'],
    [{ type: 'review', objectiveValid: 'no' }, 'objectiveValid must be'],
    [{ type: 'setBudget', budget: {} }, 'budget must name'],
    [{ type: 'setBudget', budget: { deadlineMs: 1 } }, 'budget must name'],
    [{ type: 'setBudget', budget: { maxCycles: 0 } }, 'budget.maxCycles must be'],
    [{ type: 'setPlan', steps: {} }, 'steps must be a list'],
    [{ type: 'setPlan', steps: Array.from({ length: 101 }, () => ({})) }, 'at most 100'],
    [{ type: 'setPlan', steps: [{ id: 'a' }] }, 'steps.0: title must be'],
    [{ type: 'setPlan', steps: [0, 1].map(() => ({ id: 'a', title: 't' })) }, 'its id is taken'],
    [{ type: 'setPlan', steps: [{ id: 'a', title: 't', status: 'x' }] }, 'status must be one of'],
    [{ type: 'setPace', pace: { everyMs: 0 } }, 'pace must be'],
    [{ type: 'setPace', pace: { cron: '* * * * *' } }, 'pace must be'],
    [{ type: 'handoffGoal' }, 'goalId must be'],
    [{ type: 'steer', text: 'ok', more: 'x'.repeat(70_000) }, 'at most 65536 bytes'],
  ])('is refused with a reason: %j', (body, reason) => {
    expect(parse(body)).toContain(reason);
  });

  it.each([null, undefined, 'pause', [], 3])('is refused when it is %p', (raw) => {
    expect(parseGoalMessage(raw).ok).toBe(false);
  });

  it('says so when its bytes could not be decoded', () => {
    const parsed = parseGoalMessage({ $undecodable: 'Unexpected token' });
    expect(parsed).toEqual({ ok: false, reason: 'undecodable: Unexpected token' });
  });
});
