/** The requests that a scripted model got: the last ones in memory, all of them in a file if one is named. */
import { closeSync, openSync, writeSync } from 'node:fs';

export interface LoggedRequest {
  /** Counts from 1 over the life of the server. */
  readonly seq: number;
  readonly at: number;
  readonly path: string;
  readonly runId: string;
  readonly assistantMessages: number;
  readonly attempt: number;
  readonly model: string;
  readonly messages: number;
  readonly bytes: number;
  /** What was answered: 'message', 'failure 429', 'garbage'. */
  readonly answer: string;
  /** The request's JSON, while the log has room for it. */
  readonly body?: string;
}

export interface RequestLogOptions {
  /** Requests kept in memory; 1,000 unless told. */
  readonly limit?: number;
  /** A JSON Lines file that every request is appended to before it is answered. */
  readonly file?: string;
  /** Keep bodies; true unless told. Benches turn it off. */
  readonly bodies?: boolean;
}

export interface RequestLog {
  add(entry: Omit<LoggedRequest, 'seq' | 'at'>): void;
  entries(): readonly LoggedRequest[];
  close(): void;
}

const LIMIT = 1000;
const BODY_BYTES_MAX = 32 * 1024 * 1024;

export function openRequestLog(options: RequestLogOptions = {}): RequestLog {
  const limit = Math.max(1, options.limit ?? LIMIT);
  const file = options.file === undefined ? undefined : openSync(options.file, 'a');
  const ring: LoggedRequest[] = [];
  let seq = 0;
  let bodyBytes = 0;
  return {
    add({ body, ...facts }) {
      seq += 1;
      const room = options.bodies !== false && bodyBytes + facts.bytes <= BODY_BYTES_MAX;
      const kept = room && body !== undefined ? { body } : {};
      const entry: LoggedRequest = { seq, at: Date.now(), ...facts, ...kept };
      const slot = (seq - 1) % limit;
      bodyBytes -= ring[slot]?.body === undefined ? 0 : ring[slot].bytes;
      bodyBytes += entry.body === undefined ? 0 : entry.bytes;
      ring[slot] = entry;
      // Synchronous: the line must be there even if the process is killed before it answers.
      if (file !== undefined)
        writeSync(file, lineOf(entry, options.bodies === false ? undefined : body));
    },
    entries: () => ring.toSorted((a, b) => a.seq - b.seq),
    close: () => {
      if (file !== undefined) closeSync(file);
    },
  };
}

function lineOf(entry: LoggedRequest, body: string | undefined): string {
  return `${JSON.stringify(body === undefined ? entry : { ...entry, body })}\n`;
}
