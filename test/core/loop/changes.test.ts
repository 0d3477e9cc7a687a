/** What runs of older rules decide, where a change of meaning has a name. */
import { generateKeyPairSync } from 'node:crypto';
import { GRANTS_MAX } from '../../../core/permission/grants.js';
import { CHANGES, follows, knownRules, RULES_VERSION } from '../../../core/step/changes.js';
import { signerOf } from '../../../client/decide/desk-signer.js';
import { call, calls, decisionOn, says, type Script } from '../script.js';
import {
  answer,
  askOf,
  createShell,
  finish,
  pass,
  send,
  settle,
  started,
  warningsOf,
  type Shell,
} from '../shell.js';

const MINUTE = 60_000;

test('a run follows a change from its number on', () => {
  const { since } = CHANGES.ruleNames;
  expect(follows({ rules: since - 1 }, 'ruleNames')).toBe(false);
  expect(follows({ rules: since }, 'ruleNames')).toBe(true);
  expect(follows({ rules: RULES_VERSION }, 'ruleNames')).toBe(true);
});

test('code that does not know a rules number refuses to decide by it', () => {
  expect(() => knownRules(RULES_VERSION + 1)).toThrow(/RulesTooNew.*deploy a newer worker/);
});

test('ruleNames: without it no event names a rule', () => {
  const shell = createShell({ model: [says('done')], rules: CHANGES.ruleNames.since - 1 });
  finish(shell);
  expect(shell.events.filter(({ stamp }) => 'rule' in stamp)).toEqual([]);
});

test.each([
  [
    'without it nothing is said of the claim of an attempt in doubt',
    CHANGES.claimInDoubt.since - 1,
    undefined,
  ],
  ['with it the claim of an attempt in doubt is told', CHANGES.claimInDoubt.since, true],
])('claimInDoubt: %s', (_how, rules, claimed) => {
  const shell = createShell({
    model: [calls(call('a', 'write_note', { text: 'x' }))],
    outcomes: { write_note: [{ ambiguous: 'reset', claimed: 1 }] },
    settings: { permissionMode: 'acceptEdits' },
    rules,
  });
  settle(shell);
  const [asked] = started(shell, 'reconcile_tool');
  expect(asked?.input.call).toMatchObject({ tool: 'write_note', attempt: 1 });
  expect(asked?.input.call.claimed).toBe(claimed);
});

test('grantsThatHold: without it a grant that has run out still counts against the limit', () => {
  const grant = {
    matcher: { tool: 'issue_refund', when: [{ path: 'amount', lte: 50 }] },
    uses: 2,
    expiresInMs: MINUTE,
  };
  const model = Array.from({ length: GRANTS_MAX + 2 }, (_, index) =>
    calls(call(`c${index}`, 'issue_refund', { order: 'O', amount: 100 + index })),
  );
  const shell = settle(
    createShell({
      model,
      rules: CHANGES.grantsThatHold.since - 1,
      settings: { allowStandingGrants: true },
      budget: { maxTurns: 2 * GRANTS_MAX, maxToolCalls: 2 * GRANTS_MAX },
    }),
  );
  for (let given = 0; given < GRANTS_MAX; given += 1) {
    answer(shell, { grant, decidedAt: shell.now });
    settle(shell);
  }
  pass(shell, MINUTE + 1);
  answer(shell, { grant, decidedAt: shell.now });
  settle(shell);
  expect(warningsOf(shell).at(-1)).toMatch('decision_ignored');
  expect(askOf(shell)).toMatchObject({ callId: `c${GRANTS_MAX}` });
});

function proving(more: Partial<Script>): Shell {
  const { key } = signerOf(generateKeyPairSync('ed25519').privateKey);
  const model = [calls(call('a', 'issue_refund', { order: 'O', amount: 1 })), says('done')];
  return settle(createShell({ model, deskKeys: [key], settings: { requireProof: true }, ...more }));
}

test('provenModes: without it a run that requires proof takes a wider mode', () => {
  const shell = proving({ rules: CHANGES.provenModes.since - 1 });
  send(shell, { type: 'set_permission_mode', mode: 'acceptEdits' });
  expect(warningsOf(shell)).toContain('permission_mode');
});

test('unprovenReason: without it an unsigned decision is malformed', () => {
  const shell = proving({ rules: CHANGES.unprovenReason.since - 1 });
  const decision = decisionOn(askOf(shell), { nonce: 'n1' });
  send(shell, { type: 'decision', decision, ticket: 'who' });
  settle(shell);
  expect(shell.verdicts.at(-1)?.verdict).toMatchObject({ accepted: false, reason: 'malformed' });
});
