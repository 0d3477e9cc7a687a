/** A decision signed with a key of the desk that the run has not been told of: the run fetches the keys. */
import { generateKeyPairSync } from 'node:crypto';
import { signerOf, type DeskSigner } from '../../../client/decide/desk-signer.js';
import type { Decision } from '../../../core/state/ask.js';
import { fitsBytes, CONTINUE_AS_NEW_BYTES_MAX } from '../../../core/json/json.js';
import { parseDecision } from '../../../core/messages/parse-message.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import { call, calls, decisionOn, failure, says, tool, type Script } from '../script.js';
import {
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  pass,
  post,
  activate,
  send,
  settle,
  started,
  tick,
  until,
  type Outside,
  type Shell,
} from '../shell.js';

const newSigner = (): DeskSigner => signerOf(generateKeyPairSync('ed25519').privateKey);
const desk = newSigner();
const next = newSigner();
const place = { tenant: 'default', runId: 'run_1', kind: 'approval', policyVersion: '7' } as const;
const ARGS = { order: 'O-104', amount: 50 };

const approval = { roles: ['manager'], quorum: 1 };
const tools = [
  tool('issue_refund', { effect: 'financial', idempotency: 'keyed', approval }),
  tool('lookup_order', { effect: 'read', concurrencySafe: true }),
  tool('read_order', { effect: 'read', concurrencySafe: true, approval }),
];

function proving(known: readonly DeskSigner[], more: Partial<Script> = {}): Shell {
  return createShell({
    model: [calls(call('a', 'issue_refund', ARGS)), says('done')],
    tools,
    settings: { requireProof: true },
    deskKeys: [desk.key],
    laterDeskKeys: known.map(({ key }) => key),
    ...more,
  });
}

/** Signed by a desk of now. */
function signed(shell: Shell, changes: Partial<Decision> = {}, by: DeskSigner = next): Decision {
  const [ask] = viewOfRun(shell.run).asks;
  const said = { roles: ['manager'], nonce: 'n1', decidedAt: shell.now, ...changes };
  const parsed = parseDecision(decisionOn(ask!, said));
  if (!parsed.ok) throw new Error(parsed.reason);
  return by.signDecision(place, parsed.value);
}

const word = (decision: Decision, ticket?: string): Outside => ({
  type: 'decision',
  decision,
  ...(ticket !== undefined && { ticket }),
});

function verdictOf(shell: Shell, ticket: string) {
  return shell.verdicts.find((one) => one.ticket === ticket)?.verdict;
}

test('it waits for the keys, counts when one of them proves it, and no segment ends for it', () => {
  const shell = settle(proving([desk, next]));
  send(shell, word(signed(shell), 't1'));
  expect(verdictOf(shell, 't1')).toBeUndefined();
  expect(started(shell, 'fetch_keys')).toMatchObject([{ input: { kids: [next.key.kid] } }]);
  finish(shell);
  expect(verdictOf(shell, 't1')).toEqual({ accepted: true, outcome: 'approved' });
  expect(executedOf(shell)).toHaveLength(1);
  expect(shell.run.segment.number).toBe(0);
  expect(ofType(shell, 'warning')).toEqual([]);
});

test('it counts although another call of the same reply takes ten minutes, which goes on', () => {
  const shell = proving([desk, next], {
    model: [calls(call('r', 'lookup_order'), call('a', 'read_order')), says('done')],
    settings: { requireProof: true, toolExecution: 'batched' },
    outcomes: { lookup_order: [{ ok: 'late', delayMs: 600_000 }] },
  });
  until(shell, 'approval_requested');
  const before = shell.now;
  send(shell, word(signed(shell), 't1'));
  for (let steps = 0; steps < 3; steps += 1) tick(shell);
  expect(verdictOf(shell, 't1')).toEqual({ accepted: true, outcome: 'approved' });
  finish(shell);
  const begun = ofType(shell, 'tool_started').find((event) => event.tool === 'read_order');
  expect(begun!.stamp.at - before).toBeLessThan(1_000);
});

test('it is refused when the key is not there either, and nobody asks for that key again', () => {
  const shell = settle(proving([desk]));
  send(shell, word(signed(shell), 't1'));
  settle(shell);
  send(shell, word(signed(shell, { nonce: 'n2' }), 't2'));
  for (const ticket of ['t1', 't2']) {
    expect(verdictOf(shell, ticket)).toMatchObject({ accepted: false, reason: 'unknown_key' });
  }
  expect(started(shell, 'fetch_keys')).toHaveLength(1);
  crossSegment(shell);
  settle(shell);
  send(shell, word(signed(shell, { nonce: 'n3' }), 't3'));
  settle(shell);
  expect(started(shell, 'fetch_keys')).toHaveLength(2);
  send(shell, { type: 'interrupt' });
  finish(shell);
});

test('keys are asked for eight times, whatever anybody sends', () => {
  const shell = settle(proving([desk]));
  for (let nth = 0; nth < 12; nth += 1) {
    send(shell, word(signed(shell, { nonce: `n${nth}` }, newSigner()), `t${nth}`));
    settle(shell);
  }
  expect(started(shell, 'fetch_keys')).toHaveLength(8);
  expect(verdictOf(shell, 't11')).toMatchObject({ reason: 'unknown_key' });
  send(shell, { type: 'interrupt' });
  finish(shell);
});

test('who sends ids of no key keeps a new key from being found for a minute at most', () => {
  const shell = settle(proving([desk, next]));
  const { script } = shell;
  Object.assign(shell, { script: { ...script, laterDeskKeys: [desk.key] } });
  for (let nth = 0; nth < 12; nth += 1) {
    send(shell, word(signed(shell, { nonce: `n${nth}` }, newSigner()), `t${nth}`));
    settle(shell);
  }
  Object.assign(shell, { script });
  send(shell, word(signed(shell), 'soon'));
  settle(shell);
  expect(verdictOf(shell, 'soon')).toMatchObject({ reason: 'unknown_key' });
  pass(shell, 60_000);
  send(shell, word(signed(shell), 'later'));
  finish(shell);
  expect(verdictOf(shell, 'later')).toEqual({ accepted: true, outcome: 'approved' });
  expect(started(shell, 'fetch_keys')).toHaveLength(9);
});

test('a fetch that takes long is made once for each key', () => {
  const shell = settle(proving([desk]));
  for (const nonce of ['n1', 'n2']) {
    post(shell, word(signed(shell, { nonce }), nonce));
    activate(shell);
    shell.now += 120_000;
  }
  settle(shell);
  expect(started(shell, 'fetch_keys')).toHaveLength(1);
  for (const ticket of ['n1', 'n2']) {
    expect(verdictOf(shell, ticket)).toMatchObject({ reason: 'unknown_key' });
  }
  send(shell, { type: 'interrupt' });
  finish(shell);
});

test('those that come while the keys are fetched wait too, at most eight, each counted once', () => {
  const shell = settle(
    proving([desk, next], { tools: [{ ...tools[0]!, approval: { ...approval, quorum: 2 } }] }),
  );
  send(shell, word(signed(shell, { by: 'ann' })));
  send(shell, word(signed(shell, { by: 'ann' }), 'again'));
  const third = newSigner();
  for (let nth = 0; nth < 9; nth += 1) {
    send(shell, word(signed(shell, { by: `p${nth}`, nonce: `p${nth}` }, third), `p${nth}`));
  }
  expect(verdictOf(shell, 'p8')).toMatchObject({ reason: 'busy' });
  settle(shell);
  send(shell, word(signed(shell, { by: 'bob' }, desk), 'bob'));
  finish(shell);
  expect(executedOf(shell)).toHaveLength(1);
  const asked = started(shell, 'fetch_keys').map(({ input }) => input.kids);
  expect(asked).toEqual([[next.key.kid], [third.key.kid]]);
});

test('when the segment ends in the same moment it goes along, and the next one is told the keys', () => {
  const shell = settle(proving([desk, next]));
  post(shell, word(signed(shell)), word(signed(shell, { nonce: 'n2', by: 'ann' }), 't2'));
  post(shell, { type: 'segment_full' });
  activate(shell);
  expect(verdictOf(shell, 't2')).toMatchObject({ accepted: false, reason: 'unknown_key' });
  crossSegment(shell);
  finish(shell);
  expect(started(shell, 'fetch_keys')).toEqual([]);
  expect(executedOf(shell)).toHaveLength(1);
});

test('when the segment is full nobody waits for a verdict as long as other work takes', () => {
  const shell = proving([desk, next], {
    model: [calls(call('r', 'lookup_order'), call('a', 'read_order')), says('done')],
    settings: { requireProof: true, toolExecution: 'batched' },
    outcomes: { lookup_order: [{ ok: 'late', delayMs: 600_000 }] },
  });
  until(shell, 'approval_requested');
  post(shell, word(signed(shell), 't1'), { type: 'segment_full' });
  activate(shell);
  expect(verdictOf(shell, 't1')).toMatchObject({ accepted: false, reason: 'unknown_key' });
  send(shell, { type: 'interrupt' });
  finish(shell);
});

test('large ones never make the run too large to go on', () => {
  const shell = settle(proving([desk]));
  const args = { note: 'x'.repeat(8_000) };
  for (let nth = 0; nth < 8; nth += 1) {
    const by = `p${nth}`.padEnd(300, '\u0000');
    const reason = '\u0000'.repeat(1_900);
    const decision = signed(shell, { decision: 'modify', args, by, reason, nonce: by });
    post(shell, word(decision));
  }
  post(shell, { type: 'segment_full' });
  activate(shell);
  expect(fitsBytes(shell.run.keyWait ?? null, 65_536)).toBe(true);
  expect(fitsBytes(shell.run, CONTINUE_AS_NEW_BYTES_MAX)).toBe(true);
  expect(ofType(shell, 'warning').map(({ about }) => about?.reason)).toContain('busy');
  crossSegment(shell);
  send(shell, { type: 'interrupt' });
  finish(shell);
});

test('one that is faster than its question waits for the keys as well', () => {
  const shell = proving([desk, next], {
    hooks: { slow: [{ delayMs: 1_000 }] },
    hookNames: { PreToolUse: ['slow'] },
  });
  until(shell, 'model_response');
  const [one] = shell.run.turn!.calls;
  const early = next.signDecision(place, {
    v: 1,
    askId: 'run_1:0',
    argsHash: one!.digest,
    decision: 'approve',
    by: 'pat',
    roles: ['manager'],
    decidedAt: shell.now,
    nonce: 'n1',
  });
  expect(viewOfRun(shell.run).asks).toEqual([]);
  send(shell, word(early, 't1'));
  finish(shell);
  expect(verdictOf(shell, 't1')).toMatchObject({ accepted: true });
  expect(executedOf(shell)).toHaveLength(1);
});

test('what is dated ahead of when it came does not count by waiting for the keys', () => {
  const shell = proving([desk, next], {
    hooks: { slow: [{ delayMs: 600_000 }] },
    hookNames: { PreToolUse: ['slow'] },
  });
  until(shell, 'model_response');
  const [one] = shell.run.turn!.calls;
  const early = next.signDecision(place, {
    v: 1,
    askId: 'run_1:0',
    argsHash: one!.digest,
    decision: 'approve',
    by: 'pat',
    roles: ['manager'],
    decidedAt: shell.now + 90_000,
    nonce: 'n1',
  });
  post(shell, word(early, 't1'));
  activate(shell);
  shell.now += 120_000;
  for (let steps = 0; steps < 3; steps += 1) tick(shell);
  expect(verdictOf(shell, 't1')).toMatchObject({ accepted: false, reason: 'clock_ahead' });
  send(shell, { type: 'interrupt' });
  finish(shell);
});

test('nobody is told that they have approved what a run that stops does not do', () => {
  const shell = proving([desk, next], {
    model: [calls(call('r', 'lookup_order'), call('a', 'read_order')), says('done')],
    tools: tools.map((one) => (one.name === 'lookup_order' ? { ...one, required: true } : one)),
    settings: { requireProof: true, toolExecution: 'batched' },
    outcomes: { lookup_order: [{ ...failure('ToolUnavailable'), delayMs: 60_000 }] },
  });
  until(shell, 'approval_requested');
  pass(shell, 50_000);
  post(shell, word(signed(shell), 't1'));
  activate(shell);
  shell.awaited = shell.awaited.map((one) =>
    one.id.startsWith('fetch_keys') ? { ...one, due: one.due + 60_000 } : one,
  );
  finish(shell);
  expect(ofType(shell, 'stop')).toMatchObject([{ reason: 'tool_unavailable' }]);
  expect(verdictOf(shell, 't1')).toMatchObject({ accepted: false, reason: 'run_closing' });
  expect(executedOf(shell)).toHaveLength(1);
});

test('when the run stops meanwhile its sender hears so', () => {
  const shell = settle(proving([desk, next]));
  send(shell, word(signed(shell), 't1'), { type: 'interrupt' });
  finish(shell);
  expect(verdictOf(shell, 't1')).toMatchObject({ accepted: false, reason: 'unknown_key' });
  expect(executedOf(shell)).toEqual([]);
});

test('a run whose decisions must be proven says so at its beginning', () => {
  const shell = settle(proving([desk]));
  expect(ofType(shell, 'session_init')).toMatchObject([{ requireProof: true }]);
  send(shell, { type: 'interrupt' });
  finish(shell);
});
