/**
 * Incremental parser of server-sent events. Holds at most one unfinished event; the total size is bounded,
 * so that a server that never ends a line cannot fill the memory.
 */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

export interface SseParser {
  push(bytes: Uint8Array): readonly SseEvent[];
  /** The stream has ended: an event without its final blank line counts, as recorded streams lack it. */
  end(): readonly SseEvent[];
}

export class SseTooLarge extends Error {}

interface SseState {
  /** Pieces of a line whose end has not arrived. */
  line: string[];
  event: string;
  data: string[];
  bytes: number;
  /** The last chunk ended in CR: a LF that follows belongs to it. */
  afterCr: boolean;
}

export function createSseParser(maxBytes: number): SseParser {
  const decoder = new TextDecoder('utf-8');
  const state: SseState = { line: [], event: '', data: [], bytes: 0, afterCr: false };
  return {
    push(bytes) {
      state.bytes += bytes.byteLength;
      if (state.bytes > maxBytes) throw new SseTooLarge(`more than ${maxBytes} bytes of events`);
      return takeText(state, decoder.decode(bytes, { stream: true }));
    },
    end() {
      const events = [...takeText(state, decoder.decode())];
      if (state.line.length > 0) takeLine(state, state.line.join(''));
      state.line = [];
      const last = takeEvent(state);
      return last === undefined ? events : [...events, last];
    },
  };
}

function takeText(state: SseState, decoded: string): readonly SseEvent[] {
  const text = withLineFeeds(state, decoded);
  const events: SseEvent[] = [];
  let from = 0;
  for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
    const line = state.line.join('') + text.slice(from, to);
    state.line = [];
    from = to + 1;
    if (line !== '') {
      takeLine(state, line);
      continue;
    }
    const event = takeEvent(state);
    if (event !== undefined) events.push(event);
  }
  if (from < text.length) state.line.push(text.slice(from));
  return events;
}

function withLineFeeds(state: SseState, decoded: string): string {
  if (decoded === '') return decoded;
  const text = state.afterCr && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
  state.afterCr = decoded.endsWith('\r');
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

function takeLine(state: SseState, line: string): void {
  const colon = line.indexOf(':');
  if (colon === 0) return;
  const field = colon < 0 ? line : line.slice(0, colon);
  const rest = colon < 0 ? '' : line.slice(colon + 1);
  const value = rest.startsWith(' ') ? rest.slice(1) : rest;
  if (field === 'event') state.event = value;
  if (field === 'data') state.data.push(value);
}

function takeEvent(state: SseState): SseEvent | undefined {
  const { event, data } = state;
  state.event = '';
  state.data = [];
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}
