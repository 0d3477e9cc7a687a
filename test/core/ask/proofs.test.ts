/** Attack table A1 to A3 and A5 at the core: decisions that must be proven, in every way they are not. */
import { generateKeyPairSync } from 'node:crypto';
import { signerOf, type DeskSigner } from '../../../client/decide/desk-signer.js';
import type { Decision } from '../../../core/state/ask.js';
import type { StatementPlace } from '../../../core/ask/statement.js';
import { PROOFS_AT_ONCE_MAX } from '../../../core/ask/verify.js';
import { parseDecision } from '../../../core/messages/parse-message.js';
import { call, calls, decisionOn, says, tool, type Script } from '../script.js';
import {
  askOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  pass,
  send,
  settle,
  START,
  started,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';

const newSigner = (): DeskSigner => signerOf(generateKeyPairSync('ed25519').privateKey);
const desk = newSigner();
const ARGS = { order: 'O-104', amount: 50 };
const PLACE: StatementPlace = {
  tenant: 'default',
  runId: 'run_1',
  kind: 'approval',
  policyVersion: '7',
};

function waiting(more: Partial<Script> = {}): Shell {
  const approval = { roles: ['manager'], quorum: 1 };
  const tools = [tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval })];
  const model = [
    calls(call('a', 'issue_refund', ARGS)),
    calls(call('b', 'issue_refund', ARGS)),
    says('done'),
  ];
  const settings = { requireProof: true, ...more.settings };
  return settle(createShell({ model, tools, deskKeys: [desk.key], ...more, settings }));
}

function proven(
  shell: Shell,
  changes: Partial<Decision> = {},
  by: { readonly signer?: DeskSigner; readonly place?: Partial<StatementPlace> } = {},
): Decision {
  const { signer = desk, place = {} } = by;
  const wanted = {
    ...decisionOn(askOf(shell), { decidedAt: shell.now, nonce: 'n1', roles: ['manager'] }),
    ...changes,
  };
  const parsed = parseDecision(wanted);
  if (!parsed.ok) throw new Error(parsed.reason);
  return signer.signDecision({ ...PLACE, ...place }, parsed.value);
}

const deliver = (shell: Shell, decision: Decision): void => {
  send(shell, { type: 'decision', decision, ticket: 'who' });
  settle(shell);
};

const lastVerdict = (shell: Shell) => shell.verdicts.at(-1)?.verdict;

test('a signed decision counts, and what was signed goes with the call', () => {
  const shell = waiting();
  deliver(shell, proven(shell));
  expect(executedOf(shell)).toHaveLength(1);
  const { grant } = started(shell, 'execute_tool')[0]!.input;
  expect(grant.signed).toMatchObject([
    { statement: { by: 'pat', askId: 'run_1:0', kid: desk.key.kid, policyVersion: '7' } },
  ]);
});

describe('A1: nothing that is not signed for exactly this has an effect', () => {
  const others: readonly (readonly [string, (shell: Shell) => Decision])[] = [
    ['unsigned', (shell) => decisionOn(askOf(shell), { roles: ['manager'], nonce: 'n1' })],
    ['signed with another key', (shell) => proven(shell, {}, { signer: newSigner() })],
    [
      'signed with another key under our id',
      (shell) => ({ ...proven(shell, {}, { signer: newSigner() }), kid: desk.key.kid }),
    ],
    ['for another tenant', (shell) => proven(shell, {}, { place: { tenant: 'other' } })],
    ['for another run', (shell) => proven(shell, {}, { place: { runId: 'run_2' } })],
    ['for another kind of question', (shell) => proven(shell, {}, { place: { kind: 'budget' } })],
    ['under another policy', (shell) => proven(shell, {}, { place: { policyVersion: '8' } })],
    ['signed without a nonce', (shell) => withoutNonce(proven(shell))],
    ['with a signature that is no hex', (shell) => ({ ...proven(shell), proof: 'yes' })],
  ];
  test.each(others)('%s', (_what, make) => {
    const shell = waiting();
    deliver(shell, make(shell));
    expect(lastVerdict(shell)).toMatchObject({ accepted: false });
    expect(askOf(shell).askId).toBe('run_1:0');
    expect(executedOf(shell)).toEqual([]);
    expect(warningsOf(shell)).toContain('decision_unproven');
  });

  const changes: readonly Partial<Decision>[] = [
    { askId: 'run_1:0 ' },
    { decision: 'reject' },
    { by: 'eve' },
    { by: 'pat","x":"' },
    { roles: ['manager', 'finance'] },
    { roles: ['managerfinance'] },
    { roles: [] },
    { decidedAt: 1 },
    { nonce: 'n2' },
    { reason: 'because' },
    { amount: 5 },
    { grant: { matcher: { tool: 'issue_refund', when: [] }, uses: 9, expiresInMs: 9 } },
    { args: { order: 'O-104', amount: 5_000 }, decision: 'modify' },
    { decision: 'happened', value: 'x' },
    { kid: 'dk_other' },
  ];
  test.each(changes)('a signed decision that was changed afterwards: %j', (change) => {
    const shell = waiting();
    deliver(shell, { ...proven(shell), ...change });
    expect(lastVerdict(shell)).toMatchObject({ accepted: false });
    expect(executedOf(shell)).toEqual([]);
    expect(ofType(shell, 'approval_resolved')).toEqual([]);
    // And the real one still counts.
    deliver(shell, proven(shell));
    expect(executedOf(shell)).toHaveLength(1);
  });

  test('a signed refusal to which a stop of the run was added afterwards', () => {
    const shell = waiting();
    const refusal = proven(shell, { decision: 'reject' });
    deliver(shell, { ...refusal, interrupt: true });
    expect(lastVerdict(shell)).toMatchObject({ accepted: false, reason: 'unproven' });
    deliver(shell, proven(shell, { decision: 'reject', interrupt: true }));
    expect(finish(shell).stopReason).toBe('interrupted');
  });

  test('a changed hash names another action and is never looked at', () => {
    const shell = waiting();
    deliver(shell, { ...proven(shell), argsHash: 'f'.repeat(64) });
    expect(lastVerdict(shell)).toMatchObject({ accepted: false, reason: 'unproven' });
    expect(executedOf(shell)).toEqual([]);
  });

  test('the order of keys and spellings of a number are no change', () => {
    const shell = waiting();
    const signed = proven(shell, { decision: 'modify', args: { order: 'O-105', amount: 1e2 } });
    const entries = Object.entries(signed).reverse();
    const parsed = parseDecision(JSON.parse(JSON.stringify(Object.fromEntries(entries))));
    if (!parsed.ok) throw new Error(parsed.reason);
    deliver(shell, { ...parsed.value, args: { amount: 100, order: 'O-105' } });
    expect(executedOf(shell)).toHaveLength(1);
  });
});

describe('A2: a proof is for one question, once', () => {
  test('sent twice it counts once, and opens nothing else', () => {
    const shell = waiting();
    const decision = proven(shell);
    deliver(shell, decision);
    deliver(shell, decision);
    expect(executedOf(shell)).toHaveLength(1);
    // The model wants the same thing again: another question.
    expect(askOf(shell).askId).not.toBe('run_1:0');
    deliver(shell, decision);
    deliver(shell, { ...decision, askId: askOf(shell).askId });
    expect(executedOf(shell)).toHaveLength(1);
    expect(askOf(shell).argsHash).toBe(decision.argsHash);
  });

  test('after a rejection it opens nothing', () => {
    const shell = waiting();
    const yes = proven(shell);
    deliver(shell, proven(shell, { decision: 'reject', by: 'rob', nonce: 'n2' }));
    deliver(shell, yes);
    expect(executedOf(shell)).toEqual([]);
    expect(lastVerdict(shell)).toMatchObject({ accepted: false });
  });
});

test('A3: after a correction the proof for the first arguments is worth nothing', () => {
  const shell = waiting({
    tools: [
      tool('issue_refund', {
        effect: 'financial',
        idempotency: 'keyed',
        approval: { roles: ['manager'], quorum: 2 },
      }),
    ],
  });
  const first = proven(shell, { by: 'ann', nonce: 'a1' });
  const args = { order: 'O-104', amount: 20 };
  deliver(shell, proven(shell, { decision: 'modify', args, by: 'cor', nonce: 'c1' }));
  expect(askOf(shell).args).toEqual(args);
  deliver(shell, first);
  deliver(shell, { ...first, askId: askOf(shell).askId, argsHash: askOf(shell).argsHash });
  expect(executedOf(shell)).toEqual([]);
  // The corrector's word counts for what they made of it; a second person completes it.
  deliver(shell, proven(shell, { by: 'ann', nonce: 'a2' }));
  expect(executedOf(shell)).toHaveLength(1);
  const { grant } = started(shell, 'execute_tool')[0]!.input;
  expect(grant.signed?.map(({ statement }) => [statement.by, statement.decision])).toEqual([
    ['cor', 'modify'],
    ['ann', 'approve'],
  ]);
});

test('A5: a proof gives nobody a role, and nobody decides on their own request', () => {
  const shell = waiting({ task: { caller: 'carol' } });
  deliver(shell, proven(shell, { roles: ['clerk'] }));
  expect(lastVerdict(shell)).toMatchObject({ reason: 'role_missing' });
  deliver(shell, proven(shell, { by: 'carol' }));
  expect(lastVerdict(shell)).toMatchObject({ reason: 'own_request' });
  expect(executedOf(shell)).toEqual([]);
});

/** A run that is busy with one call, and what its next question will be about. */
function early(): Shell {
  const model = [
    calls(call('r', 'read_order'), call('a', 'issue_refund', ARGS)),
    says('done'),
  ] as const;
  const shell = createShell({ model, settings: { requireProof: true }, deskKeys: [desk.key] });
  until(shell, 'tool_started');
  return shell;
}

function earlyDecision(): Decision {
  const { askId, argsHash } = askOf(settle(early()));
  const said = { decision: 'approve', by: 'pat', roles: [], decidedAt: START } as const;
  return { v: 1, askId, argsHash, ...said, nonce: 'n1' };
}

test('a decision that is faster than its question must be proven as well', () => {
  const decision = earlyDecision();
  const forged = early();
  send(forged, { type: 'decision', decision, ticket: 'who' });
  expect(forged.run.early).toEqual([]);
  expect(lastVerdict(forged)).toMatchObject({ accepted: false, reason: 'unproven' });

  const shell = early();
  send(shell, { type: 'decision', decision: desk.signDecision(PLACE, decision), ticket: 'who' });
  expect(lastVerdict(shell)).toMatchObject({ accepted: true });
  expect(finish(shell).stopReason).toBe('completed');
  expect(executedOf(shell)).toHaveLength(2);
});

describe('a word on an outcome whose key was revoked', () => {
  const OUTCOME = { place: { kind: 'outcome' } } as const;
  const inDoubt = (keysAtRecord: NonNullable<Script['keysAtRecord']>): Shell => {
    const outcomes = { issue_refund: [{ ambiguous: 'reset' }, { ok: 'paid' }] };
    const laterDeskKeys = keysAtRecord.at(-1)!;
    const shell = waiting({ outcomes, keysAtRecord, laterDeskKeys });
    deliver(shell, proven(shell));
    expect(askOf(shell).kind).toBe('outcome');
    return shell;
  };
  const said = (shell: Shell, nonce: string, signer = desk): Decision =>
    proven(shell, { decision: 'not_happened', nonce }, { ...OUTCOME, signer });

  test('goes to the ledger with its signature', () => {
    const shell = inDoubt([[desk.key]]);
    deliver(shell, said(shell, 'n2'));
    const { signed } = started(shell, 'record_outcome')[0]!.input;
    expect(signed).toMatchObject([{ statement: { decision: 'not_happened', by: 'pat' } }]);
    expect(executedOf(shell)).toHaveLength(2);
  });

  test('runs nothing again, and the question is asked anew', () => {
    const next = newSigner();
    const shell = inDoubt([[next.key]]);
    const first = askOf(shell).askId;
    deliver(shell, said(shell, 'n2'));
    expect(executedOf(shell)).toHaveLength(1);
    expect(askOf(shell)).toMatchObject({ askId: `${first}:u1`, kind: 'outcome' });
    expect(warningsOf(shell)).toContain('decision_unproven');
    // The run knows now which keys count.
    deliver(shell, said(shell, 'n3'));
    expect(lastVerdict(shell)).toMatchObject({ accepted: false, reason: 'unknown_key' });
    deliver(shell, said(shell, 'n4', next));
    expect(executedOf(shell)).toHaveLength(2);
  });

  test('is asked for three times, and then the run needs a person', () => {
    const [second, third, fourth] = [newSigner(), newSigner(), newSigner()];
    const shell = inDoubt([[second.key], [third.key], [fourth.key]]);
    deliver(shell, said(shell, 'n2'));
    deliver(shell, said(shell, 'n3', second));
    deliver(shell, said(shell, 'n4', third));
    expect(finish(shell).stopReason).toBe('needs_human');
    expect(executedOf(shell)).toHaveLength(1);
  });
});

test('nobody switches to a mode that asks less', () => {
  const shell = waiting({ settings: { allowBypassPermissions: true } });
  send(shell, { type: 'set_permission_mode', mode: 'bypassPermissions' });
  send(shell, { type: 'set_permission_mode', mode: 'acceptEdits' });
  settle(shell);
  expect(executedOf(shell)).toEqual([]);
  expect(warningsOf(shell)).toEqual(
    expect.arrayContaining(['permission_mode_refused', 'permission_mode_refused']),
  );
});

test('a run learns of newer keys with its next segment, and forgets those that are gone', () => {
  const next = newSigner();
  const shell = waiting({ deskKeys: [desk.key], laterDeskKeys: [next.key] });
  send(shell, { type: 'segment_full' });
  crossSegment(shell);
  settle(shell);
  deliver(shell, proven(shell, { nonce: 'old' }));
  expect(lastVerdict(shell)).toMatchObject({ accepted: false, reason: 'unknown_key' });
  deliver(shell, proven(shell, { nonce: 'new' }, { signer: next }));
  expect(executedOf(shell)).toHaveLength(1);
  send(shell, { type: 'interrupt' });
  finish(shell);
});

function withoutNonce(signed: Decision): Decision {
  const { nonce: _, ...decision } = signed;
  return decision;
}

describe('A4: a crowd', () => {
  const forged = (shell: Shell, nonce: string): Decision => ({
    ...proven(shell, { nonce, by: nonce }),
    reason: 'changed afterwards',
  });

  test('of forgeries at one moment is not verified to its end, and what comes later is', () => {
    const shell = waiting();
    const counted = PROOFS_AT_ONCE_MAX + 10;
    const crowd = Array.from({ length: counted }, (_, index) => forged(shell, `n${index}`));
    const honest = proven(shell, { nonce: 'ours' });
    for (const decision of [...crowd, honest]) {
      send(shell, { type: 'decision', decision, ticket: 'who' });
    }
    settle(shell);
    const told = warningsOf(shell);
    expect(told.filter((code) => code === 'decision_unproven')).toHaveLength(PROOFS_AT_ONCE_MAX);
    expect(told).toHaveLength(counted + 1);
    expect(lastVerdict(shell)).toMatchObject({ accepted: false, reason: 'busy' });
    expect(executedOf(shell)).toEqual([]);
    pass(shell, 1);
    deliver(shell, proven(shell, { nonce: 'again' }));
    expect(executedOf(shell)).toHaveLength(1);
  });

  test.each([
    ['one person', () => 'pat'],
    ['many people', (index: number) => `person-${index}`],
  ])('of %s before the question opens is not verified to its end', (_who, by) => {
    const shell = early();
    const decision = earlyDecision();
    for (let index = 0; index < PROOFS_AT_ONCE_MAX + 10; index += 1) {
      const said = { ...decision, by: by(index), nonce: `n${index}` };
      send(shell, { type: 'decision', decision: desk.signDecision(PLACE, said), ticket: 'who' });
    }
    expect(shell.run.proofs?.count).toBe(PROOFS_AT_ONCE_MAX);
    expect(lastVerdict(shell)).toMatchObject({ accepted: false, reason: 'busy' });
  });

  test('that comes after the first word costs no signatures', () => {
    const shell = waiting();
    const crowd = Array.from({ length: 500 }, (_, index) =>
      proven(shell, { nonce: `n${index}`, by: `person-${index}` }),
    );
    for (const decision of crowd) send(shell, { type: 'decision', decision, ticket: 'who' });
    expect(shell.run.proofs?.count).toBe(1);
    settle(shell);
    expect(executedOf(shell)).toHaveLength(1);
    expect(lastVerdict(shell)).toMatchObject({ reason: 'already_decided' });
  });
});
