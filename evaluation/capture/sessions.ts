/** The conversation that a recorded run went on with, as the session of a case. */
import type { Json, StoredText } from '../../core/json/json.js';
import type { StateValue } from '../../core/state/dataflow.js';
import type { StoredBlock, TranscriptNode } from '../../core/state/transcript.js';
import type { Bundle } from '../../replay/bundle.js';
import type { FixtureDocument } from '../format/document.js';
import type { Recording } from './recording.js';
import { refused } from './refused.js';
import type { Texts } from './texts.js';
import { valueOf } from './tool-answers.js';

type Session = NonNullable<FixtureDocument['sessions']>[number];
type Message = Session['messages'][number];

export interface CapturedSession {
  readonly sessions: [Session];
  /** What the start says of it. */
  readonly task: { readonly resume: string; readonly sessionId?: string };
}

/** Undefined: the run began a conversation of its own. */
export function sessionIn(
  { bundle, opened }: Recording,
  texts: Texts,
): CapturedSession | undefined {
  const { session } = opened;
  if (session?.resumed === undefined) return undefined;
  const { sessionId, head } = session.resumed;
  const { state = {}, reactiveAttempts = 0, stopHookReentries = 0 } = session.carry ?? {};
  if (stopHookReentries > 0)
    throw refused(`Stop hooks had sent answers of the session ${sessionId} back before it began`);
  const values = Object.entries(state).map(([path, value]) => [path, stateOf(value, texts)]);
  return {
    sessions: [
      {
        id: sessionId,
        messages: chainTo(bundle, head).flatMap((node) => messagesOf(node, texts)),
        ...(values.length > 0 && { state: Object.fromEntries(values) as Session['state'] }),
        ...(reactiveAttempts > 0 && { reactiveCompacted: true }),
      },
    ],
    task: { resume: sessionId, ...(session.id !== sessionId && { sessionId: session.id }) },
  };
}

/** Behind the root, in order. */
function chainTo({ nodes }: Bundle, head: string): readonly TranscriptNode[] {
  const chain: TranscriptNode[] = [];
  // A parent's hash is in its child's: no chain goes round.
  for (let hash: string | null = head; hash !== null;) {
    const node = nodes[hash] as unknown as TranscriptNode | undefined;
    if (node === undefined) throw refused('the bundle lacks messages of the session before it');
    chain.unshift(node);
    hash = node.parent;
  }
  return chain.filter(({ role }) => role !== 'root');
}

function messagesOf({ role, blocks }: TranscriptNode, texts: Texts): readonly Message[] {
  if (role === 'assistant') return [{ assistant: answerOf(blocks, texts) }];
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result'
      ? [[block.id, resultOf(block.isError, texts.text(block.text))] as const]
      : [],
  );
  const said = textsIn(blocks, 'text', texts);
  return [
    ...(results.length > 0 ? [{ results: Object.fromEntries(results) }] : []),
    ...(said.length > 0 ? [{ user: said.join('\n\n') }] : []),
  ];
}

function answerOf(blocks: readonly StoredBlock[], texts: Texts): NonNullable<Message['assistant']> {
  const thinking = textsIn(blocks, 'thinking', texts);
  const said = textsIn(blocks, 'text', texts);
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [{ id: block.id, tool: block.tool, input: texts.value(block.args) }]
      : [],
  );
  return {
    ...(thinking.length > 0 && { thinking: thinking.join('\n') }),
    text: said.join('\n'),
    ...(calls.length > 0 && { calls }),
  };
}

function textsIn(
  blocks: readonly StoredBlock[],
  type: 'text' | 'thinking',
  texts: Texts,
): readonly string[] {
  return blocks.flatMap((block) => (block.type === type ? [texts.text(block.text)] : []));
}

function resultOf(isError: boolean, text: string) {
  return isError ? { error: text === '' ? 'failed' : text } : { ok: text };
}

function stateOf(value: StateValue, texts: Texts): Json {
  return valueOf(texts.text(value as StoredText), value);
}
