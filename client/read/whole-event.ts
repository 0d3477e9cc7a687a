/** Events with what lies in the store put back in; what the store no longer keeps is shown by its beginning. */
import { previewOf, type BlobRef, type Json, type StoredText } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { RunEvent } from '../../core/state/event.js';
import type { TranscriptNode } from '../../core/state/transcript.js';
import type { EventOf, WholeEvent } from '../../pure/sdk/projection.js';
import type { ReadText } from '../../pure/sdk/result-message.js';
import { sourcesOf } from '../../pure/sources.js';
import type { StreamChunk } from '../../pure/stream.js';
import { storeOf, type Link, type ReadingStore } from '../link.js';
import { followRun, type FollowOptions } from '../runs/follow-run.js';
import { followTree } from '../runs/follow-tree.js';
import type { TreeRun } from '../runs/tree-branch.js';
import { runHandle } from '../runs/run-handle.js';

export type WholeStore = Pick<ReadingStore, 'getText' | 'readChain' | 'restoreArguments'>;

interface WholeReading {
  readonly run: { readonly tenant: string };
  readonly store: WholeStore;
}

export type WholeMoment =
  | { readonly kind: 'event'; readonly event: WholeEvent }
  | { readonly kind: 'chunk'; readonly chunk: StreamChunk };

/** Events and tokens of a run in the order of their causes, with whole texts and arguments. Errors: StoreUnavailable. */
export async function* wholeMoments(
  link: Link,
  runId: string,
  options: FollowOptions,
): AsyncGenerator<WholeMoment, void, undefined> {
  const run = runHandle(link, runId);
  const reading = { run, store: storeOf(link) };
  for await (const moment of followRun(run, options)) {
    if (moment.kind === 'chunk') yield moment;
    else yield { kind: 'event', event: await wholeEvent(reading, moment.event) };
  }
}

export type WholeTreeMoment = WholeMoment & { readonly of: TreeRun };

export interface FollowTreeOptions extends FollowOptions {
  /** Sub-agents that are read, over all generations. */
  readonly childrenMax?: number;
}

/** The same with the events of the sub-agents below the run, without their tokens. Errors: StoreUnavailable. */
export async function* wholeTreeMoments(
  link: Link,
  runId: string,
  { signal, childrenMax, ...own }: FollowTreeOptions,
): AsyncGenerator<WholeTreeMoment, void, undefined> {
  const store = storeOf(link);
  const moments = followTree(runId, {
    handle: (id) => runHandle(link, id),
    tokens: { own, ownOnly: true },
    ...(signal !== undefined && { signal }),
    ...(childrenMax !== undefined && { childrenMax }),
  });
  for await (const moment of moments) {
    if (moment.kind === 'chunk') yield moment;
    if (moment.kind !== 'event') continue;
    const event = await wholeEvent({ run: runHandle(link, moment.of.runId), store }, moment.event);
    yield { kind: 'event', of: moment.of, event };
  }
}

async function wholeEvent(reading: WholeReading, told: RunEvent): Promise<WholeEvent> {
  const event = await withWholeReply(reading, told);
  const whole = async (text: StoredText): Promise<StoredText> => ({
    text: (await wholeTexts(reading, [text]))(text),
  });
  switch (event.type) {
    case 'model_response':
      return event.text === undefined ? event : { ...event, text: await whole(event.text) };
    case 'user_message':
      return { ...event, text: await whole(event.text) };
    case 'tool_finished':
      return { ...event, content: await whole(event.content) };
    default:
      return event;
  }
}

/** With the large arguments of its calls, the thinking and the sources put back. */
export async function withWholeReply(
  { run, store }: WholeReading,
  event: RunEvent,
): Promise<WholeEvent> {
  const restore = async <A extends { readonly args: Json }>(action: A): Promise<A> => ({
    ...action,
    args: await store.restoreArguments(run.tenant, action.args).catch(onlyWhenGone(action.args)),
  });
  if (event.type === 'approval_resolved' && event.corrected !== undefined) {
    return { ...event, corrected: await restore(event.corrected) };
  }
  if (event.type !== 'model_response') return event;
  const node = await nodeOf({ run, store }, event);
  const said = node?.blocks ?? [];
  const sources = sourcesOf(node?.raw);
  const uses = said.filter((block) => block.type === 'tool_use');
  const shown =
    uses.length === 0 ? event.calls : uses.map(({ id, tool, args }) => ({ id, tool, args }));
  const thinking: string[] = [];
  for (const block of said) {
    if (block.type === 'thinking') thinking.push(await textOf({ run, store }, block.text));
  }
  return {
    ...event,
    calls: await Promise.all(shown.map(restore)),
    ...(thinking.length > 0 && { thinking }),
    ...(sources.length > 0 && { sources }),
  };
}

/** The message of a reply whose event does not have all of it. */
async function nodeOf(
  { run, store }: WholeReading,
  { head, messageId }: EventOf<'model_response'>,
): Promise<TranscriptNode | undefined> {
  if (head === undefined) return undefined;
  const chain = await store.readChain(run.tenant, head).catch(onlyWhenGone([]));
  const node = chain.at(-1);
  return node?.messageId === messageId ? node : undefined;
}

async function textOf({ run, store }: WholeReading, text: string | BlobRef): Promise<string> {
  if (typeof text === 'string') return text;
  const stored = { ...text, preview: '' };
  return store.getText(run.tenant, stored).catch(onlyWhenGone(''));
}

export async function wholeTexts(
  { run, store }: WholeReading,
  texts: readonly StoredText[],
): Promise<ReadText> {
  const whole = new Map<string, string>();
  for (const text of texts) {
    if ('text' in text || whole.has(text.$blob)) continue;
    const shown = previewOf(text);
    whole.set(text.$blob, await store.getText(run.tenant, text).catch(onlyWhenGone(shown)));
  }
  return (text) => ('text' in text ? text.text : (whole.get(text.$blob) ?? previewOf(text)));
}

/** What the store no longer keeps is shown by what the event itself says of it. */
function onlyWhenGone<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof HoldfastError && error.code === 'TranscriptMissing') return instead;
    throw error;
  };
}
