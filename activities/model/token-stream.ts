/**
 * What one attempt of a model call says while it says it, on its way to readers.
 * Invariants: the model never waits for it; an attempt that was replaced says no more; the last chunk is stored
 * in the same commit as the end of the attempt, so that a stored reply and an ended stream are one.
 */
import type { ModelDelta, StreamEntry } from '../../pure/stream.js';
import type { Block, ToolOffer } from '../../core/state/transcript.js';
import type { StreamBatch } from '../../store/changes.js';
import type { Store, StoreCalls } from '../../store/store.js';

export interface TokenStream {
  onDelta(delta: ModelDelta): void;
  /** The reply is here. What came whole is shown whole. */
  replied(blocks: readonly Block[]): void;
  /** Nothing more comes: takes back what is still on its way to the store. */
  settle(): Promise<void>;
  /** The last chunk, as part of a transaction; idempotent. */
  end(store: StoreCalls, ending: StreamEntry): Promise<void>;
  /** The transaction is on disk. */
  ended(): void;
}

/** Characters of one attempt that are streamed; more than any model says. */
const CHARS_MAX = 16 * 1024 * 1024;
/** What an entry weighs besides its text. */
const ENTRY_CHARS = 40;
const NAME_CHARS_MAX = 256;

/** `opened` is what the store gave when the attempt began, and is on disk. */
export function tokenStream(
  { live }: Pick<Store, 'live'>,
  opened: readonly StreamBatch[],
  tools: readonly ToolOffer[],
): TokenStream {
  const { entries, first, ...writer } = opened.at(-1)!;
  const names = new Map(tools.map(({ wireName, name }) => [wireName, name]));
  let next = first + entries.length;
  let chars = 0;
  let silent = false;
  let said = false;
  let rest: readonly StreamBatch[] = [];
  let last: StreamBatch | undefined;
  let stored = false;
  live.announce(writer, opened);

  function send(delta: ModelDelta): void {
    said = true;
    const size = delta.text.length + ENTRY_CHARS;
    const batch = { ...writer, first: next, entries: [{ kind: 'delta', delta } as const] };
    // What is left out keeps its place: readers see that something is missing.
    next += 1;
    if (silent || chars + size > CHARS_MAX) return;
    chars += size;
    silent = live.send(batch, size) === 'refused';
  }

  return {
    onDelta(delta) {
      // A provider may be anybody's: what is no piece of a reply is shown to nobody.
      if (isDelta(delta)) send(withRegistryName(delta, names));
    },
    replied(blocks) {
      if (!said) wholeDeltas(blocks).forEach((delta) => send(withRegistryName(delta, names)));
    },
    async settle() {
      rest = await live.unsent(writer);
      silent = true;
    },
    async end(store, ending) {
      last ??= { ...writer, first: next, entries: [ending] };
      const { tenant, runId, fence } = writer;
      stored = await store.endStream({ tenant, runId, fence, rest: [...rest, last], chars });
    },
    ended() {
      if (last !== undefined && stored) live.announce(writer, [last]);
    },
  };
}

const DELTA_TYPES: readonly unknown[] = ['text', 'thinking', 'tool_use'];

function isDelta(given: unknown): given is ModelDelta {
  if (typeof given !== 'object' || given === null) return false;
  const { type, block, text, id, tool } = given as { readonly [name: string]: unknown };
  return (
    DELTA_TYPES.includes(type) &&
    Number.isSafeInteger(block) &&
    typeof text === 'string' &&
    [id, tool].every((name) => name === undefined || typeof name === 'string')
  );
}

function withRegistryName(delta: ModelDelta, names: ReadonlyMap<string, string>): ModelDelta {
  if (delta.type !== 'tool_use' || delta.tool === undefined) return delta;
  const { id = '', tool } = delta;
  return {
    ...delta,
    id: id.slice(0, NAME_CHARS_MAX),
    tool: names.get(tool) ?? tool.slice(0, NAME_CHARS_MAX),
  };
}

/** A reply of which nothing was shown while it came. */
function wholeDeltas(blocks: readonly Block[]): readonly ModelDelta[] {
  return blocks.flatMap((given, block): readonly ModelDelta[] => {
    switch (given.type) {
      case 'text':
      case 'thinking':
        return given.text === '' ? [] : [{ type: given.type, block, text: given.text }];
      case 'tool_use': {
        const { id, tool, args } = given;
        return [{ type: 'tool_use', block, text: JSON.stringify(args), id, tool }];
      }
      default:
        return [];
    }
  });
}
