/** What a run tells of decisions whose senders could tell nobody, and of its stop, while its record waits. */
import { generateKeyPairSync } from 'node:crypto';
import { signerOf, type DeskSigner } from '../../../client/decide/desk-signer.js';
import type { Decision } from '../../../core/state/ask.js';
import { CHANGES } from '../../../core/step/changes.js';
import { auditOf } from '../../../pure/audit-events.js';
import { parseDecision } from '../../../core/messages/parse-message.js';
import { questionOf, viewOfRun } from '../../../core/loop/run-result.js';
import { call, calls, decisionOn, says, tool, type Script } from '../script.js';
import {
  askOf,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  send,
  settle,
  until,
  type Shell,
} from '../shell.js';

const newSigner = (): DeskSigner => signerOf(generateKeyPairSync('ed25519').privateKey);

function waiting(more: Partial<Script> = {}, quorum = 1): Shell {
  const approval = { roles: ['manager'], quorum };
  const tools = [tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval })];
  return settle(
    createShell({ model: [calls(call('a', 'issue_refund')), says('done')], tools, ...more }),
  );
}

function said(shell: Shell, changes: Partial<Decision> = {}): Decision {
  const parsed = parseDecision({
    ...decisionOn(askOf(shell), { roles: ['manager'], nonce: 'n1', decidedAt: shell.now }),
    unrecorded: true,
    ...changes,
  });
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

function signal(shell: Shell, decision: Decision): void {
  send(shell, { type: 'decision', decision });
  settle(shell);
}

describe('a decision that its sender has not written into the trail', () => {
  test('is an event with all that it says, once however often it comes', () => {
    const shell = waiting({}, 2);
    const decision = said(shell, { reason: 'fine' });
    signal(shell, decision);
    signal(shell, decision);
    const told = ofType(shell, 'decision_recorded');
    expect(told).toMatchObject([
      { askId: 'run_1:0', decision: 'approve', by: 'pat', facts: { nonce: 'n1', reason: 'fine' } },
    ]);
    expect(auditOf(told[0]!)).toMatchObject([
      {
        kind: 'decided',
        by: 'pat',
        askId: 'run_1:0',
        facts: { event: told[0]!.stamp.seq, via: 'run', decision: 'approve', question: 'approval' },
      },
    ]);
    send(shell, { type: 'interrupt' });
    finish(shell);
  });

  test('is no event where its sender has written it', () => {
    const shell = waiting();
    const { unrecorded: _, ...written } = said(shell);
    signal(shell, written);
    finish(shell);
    expect(ofType(shell, 'decision_recorded')).toEqual([]);
  });

  test('that is refused is a warning that names it, in the trail as what it claims', () => {
    const shell = waiting();
    signal(shell, said(shell, { argsHash: 'f'.repeat(64), by: 'eve' }));
    const [warned] = ofType(shell, 'warning');
    const about = { askId: 'run_1:0', by: 'eve', reason: 'mismatched', nonce: 'n1' };
    expect(warned).toMatchObject({ code: 'approval_mismatch', about });
    const [row] = auditOf(warned!);
    expect(row).toMatchObject({ kind: 'ignored', facts: about });
    expect(row).not.toHaveProperty('by');
    send(shell, { type: 'interrupt' });
    finish(shell);
  });
});

describe('before rules with keysFetched a signalled decision with a key that the run was not told of', () => {
  const desk = newSigner();
  const next = newSigner();
  const place = {
    tenant: 'default',
    runId: 'run_1',
    kind: 'approval',
    policyVersion: '7',
  } as const;
  const proving = (laterDeskKeys: readonly DeskSigner[]) =>
    waiting({
      rules: CHANGES.keysFetched.since - 1,
      settings: { requireProof: true },
      deskKeys: [desk.key],
      laterDeskKeys: laterDeskKeys.map(({ key }) => key),
    });

  test('waits for the next segment, and counts there', () => {
    const shell = proving([desk, next]);
    signal(shell, next.signDecision(place, said(shell)));
    expect(ofType(shell, 'warning')).toEqual([]);
    expect(executedOf(shell)).toEqual([]);
    crossSegment(shell);
    settle(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'decision_recorded')).toMatchObject([{ facts: { kid: next.key.kid } }]);
  });

  test('is refused there when the key is still unknown', () => {
    const shell = proving([desk]);
    signal(shell, next.signDecision(place, said(shell)));
    crossSegment(shell);
    settle(shell);
    expect(ofType(shell, 'warning')).toMatchObject([
      { code: 'decision_unproven', about: { reason: 'unknown_key' } },
    ]);
    expect(executedOf(shell)).toEqual([]);
    send(shell, { type: 'interrupt' });
    finish(shell);
  });

  test('waits with three others at most', () => {
    const shell = proving([desk]);
    for (let index = 0; index < 6; index += 1) {
      const decision = said(shell, { nonce: `n${index}` });
      send(shell, { type: 'decision', decision: next.signDecision(place, decision) });
    }
    expect(shell.run.unjudged).toHaveLength(4);
    crossSegment(shell);
    settle(shell);
    send(shell, { type: 'interrupt' });
    finish(shell);
    const refused = ofType(shell, 'warning').map(({ about }) => about?.nonce);
    expect(new Set(refused)).toEqual(new Set(['n0', 'n1', 'n2', 'n3', 'n4', 'n5']));
    expect(refused).toHaveLength(6);
  });
});

test('a run tells of a question also after it has closed', () => {
  const shell = waiting();
  expect(questionOf(shell.run, 'run_1:0')).toMatchObject({ outcome: 'pending', ask: {} });
  expect(questionOf(shell.run, 'run_1:9')).toBeNull();
  signal(shell, said(shell));
  finish(shell);
  expect(questionOf(shell.run, 'run_1:0')).toMatchObject({ outcome: 'approved' });
});

test('a stop by a person is shown while what is under way has not ended yet', () => {
  const reads = calls(call('a', 'lookup_order'));
  const shell = createShell({
    model: [reads, says('late')],
    outcomes: { lookup_order: [{ hang: true }] },
  });
  until(shell, 'tool_started');
  send(shell, { type: 'cancel_requested' });
  expect(viewOfRun(shell.run)).toMatchObject({
    status: 'closing',
    stop: { reason: 'aborted', status: 'cancelled' },
  });
  expect(shell.effects.filter(({ kind }) => kind === 'status').at(-1)).toMatchObject({
    status: 'cancelled',
  });
  expect(finish(shell).stopReason).toBe('aborted');
});
