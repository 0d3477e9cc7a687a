/** A stored conversation as the messages that a chat begins with. */
import type { Json } from '../../core/json/json.js';
import type { Source } from '../../pure/sources.js';
import type { PartOrigin, UiSource, UiSuperseded, UiUnreadPart } from './chunk.js';
import { sourceParts } from './source.js';
import { outputOf } from './text.js';

/** A message of a transcript, as `client.transcript` gives it. */
export interface SpokenMessage {
  readonly messageId: string;
  readonly role: 'user' | 'assistant';
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly args: Json }[];
  readonly results?: readonly {
    readonly id: string;
    readonly isError: boolean;
    readonly text: string;
  }[];
  readonly sources?: readonly Source[];
  readonly flags?: readonly string[];
}

export type UiPart =
  | UiSource
  | UiUnreadPart
  | { readonly type: 'step-start' }
  | { readonly type: 'text' | 'reasoning'; readonly text: string; readonly state: 'done' }
  | {
      readonly type: `tool-${string}`;
      readonly toolCallId: string;
      readonly state: 'input-available' | 'output-available' | 'output-error';
      readonly input: Json;
      readonly output?: Json;
      readonly errorText?: string;
      readonly providerExecuted: true;
    };

export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly UiPart[];
}

/**
 * One message of the assistant for all that it says between two words of its user; words of the runtime are left out. An
 * answer is called as its stream calls it: `heardAt` has the numbers of the events with which runs heard words of their user,
 * by the ids of the messages.
 */
export function messagesOf(
  spoken: readonly SpokenMessage[],
  heardAt: ReadonlyMap<string, number> = new Map(),
): readonly UiMessage[] {
  const messages: { id: string; role: UiMessage['role']; parts: UiPart[] }[] = [];
  const names = new Set<string>();
  const results = new Map(
    spoken.flatMap(({ results: given = [] }) =>
      given.map((result) => [result.id, result] as const),
    ),
  );
  for (const message of spoken) {
    const { messageId: id, role, text, flags = [] } = message;
    const isOfRuntime = flags.includes('synthetic') || flags.includes('compactSummary');
    if (role === 'user') {
      if (text === undefined || isOfRuntime) continue;
      messages.push({ id, role, parts: [{ type: 'text', text, state: 'done' }] });
      continue;
    }
    let last = messages.at(-1);
    if (last?.role !== 'assistant') {
      const of = last?.id;
      const seq = of === undefined || runOf(of) !== runOf(id) ? undefined : heardAt.get(of);
      const name = seq === undefined ? runOf(id) : `${runOf(id)}:u${seq}`;
      // Older runs do not tell where they heard it.
      last = { id: names.has(name) ? `${of}:answer` : name, role, parts: [] };
      names.add(name);
      messages.push(last);
    }
    last.parts.push(...partsOf(message, results));
  }
  return messages;
}

/** Ids of messages begin with that of their run. */
export function runOf(messageId: string): string {
  return messageId.replace(/:m\d+$/, '');
}

function partsOf(
  { messageId, text, thinking, sources, calls = [] }: SpokenMessage,
  results: ReadonlyMap<string, { readonly isError: boolean; readonly text: string }>,
): readonly UiPart[] {
  return [
    { type: 'step-start' },
    ...(thinking === undefined
      ? []
      : [{ type: 'reasoning', text: thinking, state: 'done' } as const]),
    ...(text === undefined ? [] : [{ type: 'text', text, state: 'done' } as const]),
    ...sourceParts(messageId, sources),
    ...calls.map(({ id: toolCallId, tool, args: input }): UiPart => {
      const said = { type: `tool-${tool}`, toolCallId, input, providerExecuted: true } as const;
      const result = results.get(toolCallId);
      if (result === undefined) return { ...said, state: 'input-available' };
      return result.isError
        ? { ...said, state: 'output-error', errorText: result.text }
        : { ...said, state: 'output-available', output: outputOf(result.text) };
    }),
  ];
}

/** A part of a message as clients keep it. */
interface KeptPart {
  readonly type: string;
  readonly data?: unknown;
  readonly providerMetadata?: unknown;
  readonly callProviderMetadata?: unknown;
}

/**
 * The parts of a message that count: without those of replies, and of attempts at them, that `data-holdfast-superseded`
 * names. Clients of `ai@6` cannot take parts back.
 */
export function liveParts<Part extends KeptPart>(parts: readonly Part[]): readonly Part[] {
  const dead = parts.flatMap(({ type, data }) =>
    type === 'data-holdfast-superseded' ? [data as UiSuperseded] : [],
  );
  if (dead.length === 0) return parts;
  return parts.filter((part) => {
    if (part.type === 'data-holdfast-superseded') return false;
    const origin = (part.providerMetadata ?? part.callProviderMetadata) as PartOrigin | undefined;
    const of = origin?.holdfast;
    if (of === undefined) return true;
    return !dead.some(
      ({ messageId, attempt }) =>
        messageId === of.messageId && (attempt === undefined || attempt === of.attempt),
    );
  });
}
