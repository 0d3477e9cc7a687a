/**
 * What goes with a task that is handed over, whole again: the run that hands over has but the beginning of what is large.
 */
import { digestOf, ownValue, type Json, type StoredText } from '../../core/json/json.js';
import type { RunRef } from '../../core/state/effect.js';
import type { Handoff } from '../../core/state/handoff.js';
import type { Task } from '../../core/state/task.js';
import type { StoreCalls } from '../../store/store.js';
import type { HashedNode } from '../../store/transcripts.js';
import { handoffMessage } from './handed-conversation.js';

type Texts = Pick<StoreCalls, 'getText' | 'putText' | 'restoreArguments'>;

/** Undefined: the conversation does not begin with it. */
export async function wholeGoal(
  store: Pick<Texts, 'getText'>,
  { tenant, runId }: RunRef,
  nodes: readonly HashedNode[],
): Promise<string | undefined> {
  const node = nodes.find(({ messageId }) => messageId === `${runId}:m0`);
  const block = node?.blocks.find(({ type }) => type === 'text');
  if (block?.type !== 'text') return undefined;
  return typeof block.text === 'string'
    ? block.text
    : store.getText(tenant, { ...block.text, preview: '' });
}

export async function wholeSchema(
  store: Pick<Texts, 'getText'>,
  { tenant }: RunRef,
  schema: StoredText | undefined,
): Promise<Task['outputSchema']> {
  if (schema === undefined) return undefined;
  return JSON.parse(await store.getText(tenant, schema)) as NonNullable<Task['outputSchema']>;
}

/** What the next agent is told of the words of the one before. */
export async function handedWords(
  store: Texts,
  tenant: string,
  { args, from, filter }: Pick<Handoff, 'args' | 'from' | 'filter'>,
): Promise<StoredText> {
  const whole = (await store.restoreArguments(tenant, args)) as { readonly [key: string]: Json };
  const summary = ownValue(whole, 'summary');
  const state = ownValue(whole, 'state');
  return store.putText(
    tenant,
    handoffMessage({
      from,
      filter,
      summary: typeof summary === 'string' ? summary : '',
      ...(state !== undefined && { state }),
      digest: digestOf(whole),
    }),
  );
}
