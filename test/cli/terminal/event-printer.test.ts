/** Models of a tree that speak at once, as a command prints them: one at a time, and each word once. */
import { createOutput } from '../../../cli/terminal/output.js';
import { eventPrinter } from '../../../cli/terminal/event-printer.js';
import type { TreeMoment } from '../../../client/index.js';
import type { RunEvent } from '../../../core/state/event.js';
import type { StreamEntry } from '../../../pure/stream.js';

const ROOT = { runId: 'desk', depth: 0 } as const;
const ONE = { runId: 'desk:a1', depth: 1, callId: 'c1' } as const;
const OTHER = { runId: 'desk:a2', depth: 1, callId: 'c2' } as const;
type Whose = TreeMoment['of'];

const chunk = (of: Whose, entry: StreamEntry): TreeMoment => ({
  kind: 'chunk',
  of,
  chunk: { call: 1, attempt: 1, messageId: `${of.runId}:m1`, cursor: '1.1', ...entry },
});
const began = (of: Whose) => chunk(of, { kind: 'attempt_started', eventsBefore: 1 });
const says = (of: Whose, text: string) =>
  chunk(of, { kind: 'delta', delta: { type: 'text', block: 0, text } });
const ended = (of: Whose) => chunk(of, { kind: 'attempt_ended' });
const event = (of: Whose, body: object): TreeMoment => ({
  kind: 'event',
  of,
  event: { ...body, stamp: { runId: of.runId, seq: 1, at: 0 } } as unknown as RunEvent,
});
const opened = (of: Whose, name: string) =>
  event(of, {
    type: 'session_init',
    agent: name,
    model: 'm',
    goal: { text: 'Look.' },
    tools: [],
    parent: { path: ['desk', name], callId: of.callId, runId: 'desk', root: 'desk' },
  });
const told = (of: Whose, text: string) =>
  event(of, {
    type: 'model_response',
    messageId: `${of.runId}:m1`,
    text: { text },
    calls: [],
    usage: { output: 1 },
    costMicroUsd: 0,
  });

function printed(
  moments: readonly TreeMoment[],
  { json = false, asks = false } = {},
): readonly string[] {
  let out = '';
  const streams = { out: (piece: string) => (out += piece), err: () => undefined };
  const output = createOutput(streams, { json, colour: false });
  const printer = eventPrinter(output, { askable: () => asks, all: false });
  for (const moment of moments) printer.print(moment);
  return out.split('\n').filter((line) => line !== '');
}

test('A sub-agent is heard while it speaks, under the names of the agents on the way, and its words are not told twice.', () => {
  const lines = printed([
    opened(ONE, 'auditor'),
    began(ONE),
    says(ONE, 'All is '),
    says(ONE, 'well.'),
    ended(ONE),
    told(ONE, 'All is well.'),
  ]);
  expect(lines).toContain('desk › auditor says:');
  expect(lines.filter((line) => line.includes('All is well.'))).toEqual(['│ All is well.']);
});

test('Of two that speak at once one is heard, and the other comes whole.', () => {
  const lines = printed([
    opened(ONE, 'auditor'),
    opened(OTHER, 'clerk'),
    began(ONE),
    says(ONE, 'One '),
    began(OTHER),
    says(OTHER, 'Two.'),
    says(ONE, 'two three.'),
    ended(OTHER),
    told(OTHER, 'Two.'),
    ended(ONE),
    told(ONE, 'One two three.'),
  ]);
  expect(lines.filter((line) => line.startsWith('│ '))).toEqual(['│ One two three.']);
  expect(lines.filter((line) => line.includes('Two.'))).toHaveLength(1);
});

test('The run that is followed is always heard, and one whose stream broke off holds nobody up.', () => {
  const lines = printed([
    opened(ONE, 'auditor'),
    opened(OTHER, 'clerk'),
    began(ONE),
    says(ONE, 'Broken'),
    began(ROOT),
    says(ROOT, 'Mine.'),
    ended(ROOT),
    told(ROOT, 'Mine.'),
    told(ONE, 'Broken off.'),
    began(OTHER),
    says(OTHER, 'Next.'),
    ended(OTHER),
  ]);
  expect(lines.filter((line) => line.startsWith('│ '))).toEqual(['│ Broken', '│ Mine.', '│ Next.']);
});

test('Two sub-agents of one name are told apart by their runs.', () => {
  const lines = printed([
    opened(ONE, 'auditor'),
    told(ONE, 'One.'),
    opened(OTHER, 'auditor'),
    told(ONE, 'Two.'),
    told(OTHER, 'Three.'),
  ]);
  const whose = (words: string) => lines.find((line) => line.includes(words));
  expect(whose('One.')).toContain('desk › auditor ');
  expect(whose('One.')).not.toContain('(desk:a1)');
  expect(whose('Two.')).toContain('desk › auditor (desk:a1) ');
  expect(whose('Three.')).toContain('desk › auditor (desk:a2) ');
});

test('As data each chunk says whose it is, and the call that it works on.', () => {
  const [own, below] = printed([says(ROOT, 'a'), says(ONE, 'b')], { json: true }).map(
    (line) => JSON.parse(line) as object,
  );
  expect(own).not.toHaveProperty('parent_tool_use_id');
  expect(below).toMatchObject({
    type: 'stream_event',
    runId: 'desk:a1',
    parent_tool_use_id: 'c1',
    delta: { text: 'b' },
  });
});

test('a question of a sub-agent names the root of its tree and the agents on the way', () => {
  const asked = event(ONE, {
    type: 'approval_requested',
    askId: 'desk:a1:0',
    kind: 'approval',
    tool: 'pay',
    toolVersion: '1',
    args: {},
    argsHash: 'h',
    roles: [],
    quorum: 1,
    expiresAt: 1,
  });
  const lines = printed([opened(ONE, 'payer'), asked], { asks: true }).join('\n');
  expect(lines).toMatch(/│ run +desk:a1\n│ root +desk\n│ agents +desk › payer\n/);
});
