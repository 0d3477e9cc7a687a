import type { EventBody, RunEvent } from '../../core/state/event.js';
import {
  isWaiting,
  startMessage,
  tellMoment,
  type UiChunk,
  type UiFold,
  type UiMoment,
  type UiPlace,
} from '../../http/projection/index.js';
import { MAJORS, readChunks } from './clients.js';

const RUN = 'run_1';
const CHILD: UiPlace = { runId: `${RUN}:a1`, above: RUN, callId: 'c1' };
const BELOW: UiPlace = { runId: `${RUN}:a1:a1`, above: CHILD.runId, callId: 'd1' };

let seq = 0;
function moment(body: object, of?: UiPlace): UiMoment {
  const stamp = { seq: seq++, runId: of?.runId ?? RUN, at: 0 };
  return { kind: 'event', event: { ...body, stamp } as RunEvent, ...(of && { of }) };
}

const reply = (of: string, n: number, text: string, callId?: string): object => ({
  type: 'model_response',
  messageId: `${of}:m${n}`,
  text: { text },
  calls: callId === undefined ? [] : [{ id: callId, tool: 'agent', args: {} }],
});
const started = (callId: string, child?: string) => ({
  type: 'tool_started',
  callId,
  tool: 'agent',
  ...(child !== undefined && { child }),
});
const finished = (callId: string) => ({
  type: 'tool_finished',
  callId,
  tool: 'agent',
  status: 'ok',
  content: { text: 'Done.' },
});
const init = (agent: string) => ({ type: 'session_init', agent });
const ask = (runId: string): EventBody => ({
  type: 'approval_requested',
  askId: `${runId}:pay`,
  kind: 'approval',
  callId: 'pay',
  tool: 'pay',
  args: { amount: 7 },
  argsHash: 'a'.repeat(64),
  roles: ['manager'],
  quorum: 1,
  policyVersion: '1',
  openedAt: 1,
  expiresAt: 2,
});
const approved = (runId: string) => ({
  type: 'approval_resolved',
  askId: `${runId}:pay`,
  callId: 'pay',
  outcome: 'approved',
  by: ['maria'],
});
const over = { type: 'run_result', result: { status: 'completed', stopReason: 'completed' } };

function tell(moments: readonly UiMoment[], profile: 'v6' | 'v7' = 'v6') {
  let { state, chunks } = startMessage({ profile, runId: RUN, messageId: RUN });
  const all: UiChunk[] = [...chunks];
  const waits: boolean[] = [];
  for (const one of moments) {
    ({ state, chunks } = tellMoment(state, one));
    all.push(...chunks);
    waits.push(isWaiting(state));
  }
  return { state, chunks: all, waits };
}

const ASKED = [
  moment(reply(RUN, 1, 'I ask the auditor.', 'c1')),
  moment(started('c1', CHILD.runId)),
  moment(init('desk/auditor'), CHILD),
  moment(reply(CHILD.runId, 1, 'The clerk pays.', 'd1'), CHILD),
  moment(started('d1', BELOW.runId), CHILD),
  moment(init('desk/auditor/clerk'), BELOW),
  moment(started('look'), BELOW),
  moment(ask(BELOW.runId), BELOW),
  moment(finished('look'), BELOW),
];
const ENDED = [
  moment(approved(BELOW.runId), BELOW),
  moment(reply(BELOW.runId, 2, 'Paid.'), BELOW),
  moment(over, BELOW),
  moment(finished('d1'), CHILD),
  moment(over, CHILD),
  moment(finished('c1')),
  moment(reply(RUN, 2, 'All is paid.')),
  moment(over),
];

describe.each(MAJORS)('a client of %s', (major) => {
  test('is shown the words and the questions of sub-agents, each once, also where they are told again', async () => {
    const { chunks } = tell([...ASKED, ...ENDED], major);
    const message = await readChunks(major, [...chunks.slice(0, -1), ...chunks.slice(2)]);
    const data = (type: string) =>
      (message?.parts ?? []).flatMap((part) => (part.type === type ? [part.data] : []));
    expect(data('data-holdfast-agent')).toEqual([
      { ...CHILD, agent: 'desk/auditor', state: 'ended', stopReason: 'completed' },
      { ...BELOW, agent: 'desk/auditor/clerk', state: 'ended', stopReason: 'completed' },
    ]);
    expect(data('data-holdfast-said')).toMatchObject([
      { runId: CHILD.runId, text: 'The clerk pays.' },
      { runId: BELOW.runId, text: 'Paid.' },
    ]);
    expect(data('data-holdfast-ask')).toMatchObject([{ runId: BELOW.runId, state: 'approved' }]);
  });
});

test('A message waits when its only work is of sub-agents which wait for a person.', () => {
  const { state, waits } = tell(ASKED);
  expect(waits.slice(-2)).toEqual([false, true]);
  const decided = new Set([`${BELOW.runId}:pay`]);
  expect(isWaiting(state, decided)).toBe(false);
});

test('A message waits when nobody knows what became of its only call.', () => {
  const doubt = { ...ask(RUN), kind: 'outcome', askId: `${RUN}:doubt` } as EventBody;
  const events = [reply(RUN, 1, 'I pay.', 'pay'), started('pay')].map((one) => moment(one));
  expect(tell([...events, moment(doubt)]).waits.slice(-2)).toEqual([false, true]);
  const other = { ...doubt, callId: 'look' } as EventBody;
  expect(tell([...events, moment(other)]).waits.at(-1)).toBe(false);
});

test('A question of a sub-agent is at no call of the message.', () => {
  const types = tell(ASKED).chunks.map(({ type }) => type);
  expect(types).toContain('data-holdfast-ask');
  expect(types).not.toContain('tool-approval-request');
});

test('Sub-agents of a message before are told with that one.', () => {
  const state: UiFold = startMessage({ runId: RUN, messageId: RUN }).state;
  expect(tellMoment(state, moment(reply(CHILD.runId, 1, 'Late.'), CHILD)).chunks).toEqual([]);
});

test('A long reply of a sub-agent is cut.', () => {
  const long = moment(reply(CHILD.runId, 3, 'x'.repeat(100_000)), CHILD);
  const { chunks } = tell([...ASKED.slice(0, 3), long]);
  const said = chunks.find(({ type }) => type === 'data-holdfast-said');
  expect(JSON.stringify(said).length).toBeLessThan(17_000);
});
