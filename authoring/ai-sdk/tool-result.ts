/** What `execute` and `toModelOutput` of a tool of the AI SDK return, as the result of a Holdfast tool. */
import { thrownText } from '../../pure/thrown-text.js';
import { ToolFailure } from '../tool-error.js';

const FAILURE_CHARS_MAX = 2_000;
/** Results that come one after the other; more of them are taken for an endless list. */
const RESULTS_MAX = 100_000;

/** After a call was given up: its last result may still come, and an endless list ends. */
const RESULTS_AFTER_STOP_MAX = 100;

/**
 * The last of several results; the earlier ones are preliminary. A call that is given up meanwhile may still end by itself:
 * what it did then counts. Throws when it goes on.
 */
export async function lastOf(returned: unknown, signal: AbortSignal): Promise<unknown> {
  const value = await returned;
  if (!isIterable(value)) return value;
  let last: unknown;
  let count = 0;
  let left = RESULTS_AFTER_STOP_MAX;
  for await (const one of value) {
    if (signal.aborted) left -= 1;
    if (left < 0) signal.throwIfAborted();
    count += 1;
    if (count > RESULTS_MAX) throw new Error(`The tool gave more than ${RESULTS_MAX} results.`);
    last = one;
  }
  return last;
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  const iterator = (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[
    Symbol.asyncIterator
  ];
  return typeof iterator === 'function';
}

/** What the model is told of a result. An error there is a failure of a call that is over, whatever the call did. */
export function toldResult(output: unknown): unknown {
  const { type, value, reason } = (output ?? {}) as {
    readonly type?: unknown;
    readonly value?: unknown;
    readonly reason?: unknown;
  };
  switch (type) {
    case 'text':
    case 'json':
      return value;
    case 'content':
      return toldContent(value);
    case 'error-text':
    case 'error-json':
      return failed(textOf(value));
    case 'execution-denied':
      return failed(typeof reason === 'string' ? reason : 'The tool was not allowed to run.');
    default:
      return failed(untold('its toModelOutput gave no output of the AI SDK'));
  }
}

/** The call is over: nobody may begin it again because its result cannot be told. */
export function untoldResult(error: unknown): ToolFailure {
  return failed(untold(`its toModelOutput failed: ${thrownText(error)}`));
}

function untold(why: string): string {
  return `The tool ran and must not be called again for the same, but its result is unusable: ${why}.`;
}

/** Texts as one text; pictures and files are told by their kind, beside the texts. */
function toldContent(parts: unknown): unknown {
  if (!Array.isArray(parts)) return failed(untold('its content is no list'));
  const told = parts.map(partOf);
  return told.every((part) => typeof part === 'string') ? told.join('\n') : { content: told };
}

function partOf(part: unknown): unknown {
  const { type, text, mediaType, data } = (part ?? {}) as { readonly [field: string]: unknown };
  if (type === 'text' && typeof text === 'string') return text;
  // In v7 the data say what they are: of a file, as text, or where they lie.
  const within = (typeof data === 'object' ? (data ?? {}) : {}) as {
    readonly [f: string]: unknown;
  };
  if (within['type'] === 'text' && typeof within['text'] === 'string') return within['text'];
  const bytes = sizeOf(within['data'] ?? data);
  return {
    type: typeof type === 'string' ? type.slice(0, 40) : 'unknown',
    ...(typeof mediaType === 'string' && { mediaType: mediaType.slice(0, 100) }),
    ...(bytes !== undefined && { bytes }),
  };
}

function sizeOf(data: unknown): number | undefined {
  if (typeof data === 'string') return Math.floor((data.length * 3) / 4);
  return data instanceof Uint8Array || data instanceof ArrayBuffer ? data.byteLength : undefined;
}

function failed(text: string): ToolFailure {
  return new ToolFailure(text.slice(0, FAILURE_CHARS_MAX) || 'The tool says no more.');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'The tool says no more.');
}
