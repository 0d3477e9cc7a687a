/**
 * Repair of a stored conversation, so that a vendor takes it (G43): every tool call has exactly one
 * result, in the order of the calls, in the message after it. Pure; says what it did.
 * Invariants: a sound conversation comes back as it is, the same messages; what a person or a model said is
 * never changed; a result that is added says that nobody knows what became of the call.
 */
import type { StoredBlock, TranscriptNode } from '../core/state/transcript.js';

/** What is said about a call whose result was never stored: it may have happened. */
export const UNRECORDED =
  'No result of this call was recorded. Nobody knows here whether it happened: find out before you repeat it.';

type ToolUse = Extract<StoredBlock, { type: 'tool_use' }>;
type ToolResult = Extract<StoredBlock, { type: 'tool_result' }>;

export type Message = Omit<TranscriptNode, 'parent'>;

export interface RepairedHistory<M extends Message> {
  /** Untouched messages are the given ones. */
  readonly messages: readonly (M | Message)[];
  /** One sentence for each thing that was mended. */
  readonly repairs: readonly string[];
}

/** `idOf` names the k-th message that has to be added. */
export function repairHistory<M extends Message>(
  history: readonly M[],
  idOf: (count: number) => string,
): RepairedHistory<M> {
  const messages: (M | Message)[] = [];
  const repairs: string[] = [];
  let added = 0;
  let open: readonly ToolUse[] = [];

  function close(): void {
    if (open.length === 0) return;
    messages.push({
      v: 1,
      role: 'user',
      messageId: idOf(added),
      blocks: open.map((use) => unrecorded(use, repairs)),
      flags: ['synthetic'],
    });
    added += 1;
    open = [];
  }

  for (const message of history) {
    const results = message.blocks.filter(isResult);
    if (results.length === 0 || message.role !== 'user') close();
    if (message.role === 'assistant') {
      if (isEmpty(message)) {
        repairs.push(`left out the empty message ${message.messageId}`);
        continue;
      }
      messages.push(message);
      open = message.blocks.filter(isUse);
      continue;
    }
    const mended = results.length === 0 ? message : withResultsFor(message, open, repairs);
    open = [];
    if (mended !== undefined) messages.push(mended);
  }
  close();
  return { messages, repairs };
}

/** The message with one result for each call, in their order; undefined when nothing of it is left. */
function withResultsFor<M extends Message>(
  message: M,
  uses: readonly ToolUse[],
  repairs: string[],
): M | Message | undefined {
  const given = message.blocks.filter(isResult);
  const inOrder = given.length === uses.length && given.every(({ id }, k) => uses[k]?.id === id);
  const first = message.blocks.slice(0, given.length).every(isResult);
  if (inOrder && first) return message;
  const results = uses.map((use) => {
    const found = given.find(({ id }) => id === use.id);
    return found ?? unrecorded(use, repairs);
  });
  for (const result of given) {
    if (!results.includes(result)) repairs.push(`left out a result of ${result.id} without a call`);
  }
  if (results.length === given.length && results.every((result) => given.includes(result))) {
    repairs.push(`put the results of ${uses.map(({ id }) => id).join(', ')} into order`);
  }
  const blocks = [...results, ...message.blocks.filter((block) => !isResult(block))];
  return blocks.length === 0 ? undefined : { ...message, blocks };
}

function unrecorded({ id }: ToolUse, repairs: string[]): ToolResult {
  repairs.push(`added a result for the call ${id}, which had none`);
  return { type: 'tool_result', id, isError: true, code: 'outcome_unknown', text: UNRECORDED };
}

/** A turn that was paused may hold nothing but blocks of the vendor. */
function isEmpty({ blocks, raw }: Message): boolean {
  return blocks.length === 0 && !(Array.isArray(raw) && raw.length > 0);
}

function isUse(block: StoredBlock): block is ToolUse {
  return block.type === 'tool_use';
}

function isResult(block: StoredBlock): block is ToolResult {
  return block.type === 'tool_result';
}
