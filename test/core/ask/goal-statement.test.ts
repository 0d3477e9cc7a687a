/** What the desk signs when a person says something to a goal. */
import { generateKeyPairSync } from 'node:crypto';
import { signerOf } from '../../../client/decide/desk-signer.js';
import { goalStatementOf, goalStatementText } from '../../../core/ask/statement.js';
import { verifyEd25519 } from '../../../core/json/ed25519.js';
import type { GoalMessage } from '../../../core/state/goal/message.js';

const place = { tenant: 'acme', goalId: 'goal-1' };
const message: GoalMessage = {
  v: 1,
  id: 'm-1',
  by: 'ada',
  roles: ['lead', 'finance'],
  at: 1_800_000_000_000,
  type: 'steer',
  text: 'Start with the oldest.',
  wake: true,
};
const signer = signerOf(generateKeyPairSync('ed25519').privateKey);

function holds(where: typeof place, said: GoalMessage): boolean {
  const statement = goalStatementOf(where, said);
  if (statement === undefined || said.proof === undefined) return false;
  return verifyEd25519(signer.key.key, goalStatementText(statement), said.proof);
}

describe('a signed message to a goal', () => {
  const signed = signer.signGoalMessage(place, message);

  it('proves who said it, whatever the order of its fields', () => {
    expect(signed).toMatchObject({ ...message, kid: signer.key.kid });
    expect(holds(place, signed)).toBe(true);
    const turned = Object.fromEntries(Object.entries(signed).toReversed()) as unknown;
    expect(holds(place, turned as GoalMessage)).toBe(true);
  });

  it.each([
    { id: 'm-2' },
    { by: 'bob' },
    { roles: ['lead'] },
    { at: message.at + 1 },
    { type: 'pause' },
    { text: 'Start with the newest.' },
    { wake: false },
    { kid: 'dk_other' },
    { steps: [] },
  ])('proves nothing once it says otherwise: %j', (other) => {
    expect(holds(place, { ...signed, ...other } as unknown as GoalMessage)).toBe(false);
  });

  it('proves nothing for another goal or another tenant', () => {
    expect(holds({ ...place, goalId: 'goal-2' }, signed)).toBe(false);
    expect(holds({ ...place, tenant: 'other' }, signed)).toBe(false);
  });

  it('is no statement without a key', () => {
    expect(goalStatementOf(place, message)).toBeUndefined();
  });
});
