/** What a row of the trail says of a decision: everything that the decision brought along, provably. */
import { generateKeyPairSync } from 'node:crypto';
import { signerOf } from '../../client/decide/desk-signer.js';
import type { AskDecision } from '../../client/index.js';
import { decidedFacts } from '../../console/decided.js';
import { digestOf } from '../../core/json/json.js';
import type { AskRow } from '../../store/asks.js';
import { askView } from '../store/fixtures.js';

const signer = signerOf(generateKeyPairSync('ed25519').privateKey);
const ASK: AskRow = {
  ...askView('r1:0'),
  tenant: 't',
  runId: 'r1',
  outcome: 'pending',
  by: [],
};
const BY = { askId: 'r1:0', by: 'mia', roles: ['manager'], decidedAt: 5, nonce: 'n1' };
const ARGS = { orderId: '7', amountCents: 1 };
const grantOf = (conditions: number) => ({
  matcher: {
    tool: 'pay',
    when: Array.from({ length: conditions }, () => ({ path: 'note', equals: 'x'.repeat(900) })),
  },
  uses: 2,
  expiresInMs: 60_000,
});

const facts = (wanted: Omit<AskDecision, keyof typeof BY>, kind: AskRow['kind'] = 'approval') =>
  decidedFacts({ signer }, { ...ASK, kind }, { ...BY, ...wanted } as AskDecision);

test.each<[string, Parameters<typeof facts>, object]>([
  [
    'a correction',
    [{ decision: 'modify', args: ARGS, reason: 'less' }],
    { args: digestOf(ARGS), reason: 'less' },
  ],
  [
    'another tool',
    [{ decision: 'replace', tool: 'notes.write', args: ARGS }],
    { tool: 'notes.write', args: digestOf(ARGS) },
  ],
  [
    'what a tool would have returned',
    [{ decision: 'happened', value: { refundId: 'rf_9' } }, 'outcome'],
    { value: digestOf({ refundId: 'rf_9' }) },
  ],
  [
    'more of a budget',
    [{ decision: 'approve', allowing: { amount: 500 } }, 'budget'],
    { amount: 500 },
  ],
  ['a grant', [{ decision: 'approve', allowing: { grant: grantOf(1) } }], { grant: grantOf(1) }],
  [
    'a grant that is too long for a row',
    [{ decision: 'approve', allowing: { grant: grantOf(3) } }],
    { grant: { digest: digestOf(grantOf(3)) } },
  ],
])('%s is in it, with the digest of all and the signature', (_what, [wanted, kind], said) => {
  const told = facts(wanted, kind);
  expect(told).toMatchObject({
    decision: wanted.decision,
    question: kind ?? 'approval',
    argsHash: ASK.argsHash,
    policyVersion: ASK.policyVersion,
    roles: ['manager'],
    decidedAt: 5,
    nonce: 'n1',
    ...said,
    content: expect.stringMatching(/^[0-9a-f]{64}$/),
    kid: signer.key.kid,
    proof: expect.any(String),
  });
  expect(told.content).not.toBe(facts({ decision: 'approve' }).content);
});

test('a desk without a key says the digest, and no signature', () => {
  const told = decidedFacts({}, ASK, { ...BY, decision: 'approve' } as AskDecision);
  expect(told).toHaveProperty('content');
  expect(told).not.toHaveProperty('proof');
});
