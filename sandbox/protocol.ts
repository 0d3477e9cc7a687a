/**
 * What the worker and the program inside of the sandbox say to each other: one frame each way. A frame is the length of
 * its head (4 bytes), the head as JSON, and the contents that the head lists.
 * Invariant: what comes out of a sandbox is hostile: it is bounded here, and checked by whoever reads it.
 */
import type { Readable } from 'node:stream';
import type { FolderEntry } from '../pure/work-folder/entry.js';
import type { SandboxLimits } from './limits.js';

export type ListedEntry = readonly [path: string, entry: FolderEntry];
/** sha256 and length. */
export type ListedContent = readonly [hash: string, bytes: number];

export interface SandboxRequest {
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly stdin?: string;
  readonly limits: SandboxLimits;
  /** Path of the socket of the proxy, and the port on which the command finds it. */
  readonly proxy?: { readonly socket: string; readonly port: number };
  readonly entries: readonly ListedEntry[];
  readonly contents: readonly ListedContent[];
}

export interface CommandOutput {
  readonly text: string;
  /** Bytes that were left out between its beginning and its end. */
  readonly omitted: number;
}

/** How a command ended: by itself, or at a limit. */
export type EndedBy = 'exit' | 'time' | 'memory' | 'output' | 'stop';

export interface CommandEnd {
  readonly endedBy: EndedBy;
  /** null: a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: CommandOutput;
  readonly stderr: CommandOutput;
  readonly durationMs: number;
}

export interface SandboxReply {
  readonly end: CommandEnd;
  /** What the work folder has now; absent: `refused` says why it cannot be kept. */
  readonly entries?: readonly ListedEntry[];
  readonly refused?: string;
  /** Sockets, pipes, devices and names that are no text: they are not kept. */
  readonly skipped: number;
  /** Only those that the request did not have. */
  readonly contents: readonly ListedContent[];
}

export interface Frame<Head> {
  readonly head: Head;
  readonly contents: ReadonlyMap<string, Buffer>;
}

const LENGTH_BYTES = 4;

export function frameOf<Head extends { readonly contents: readonly ListedContent[] }>({
  head,
  contents,
}: Frame<Head>): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  const bodies = head.contents.map(([hash]) => contents.get(hash) ?? Buffer.alloc(0));
  return Buffer.concat([length, json, ...bodies]);
}

/** Whoever sends the frame has ended in the middle of it, or before. */
export class FrameCut extends Error {}

/** Reads one frame. Errors: FrameCut; it is no frame, or has more than `bytesMax` bytes. */
export function readFrame<Head extends { readonly contents: readonly ListedContent[] }>(
  stream: Readable,
  bytesMax: number,
): Promise<Frame<Head>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let have = 0;
    let expected = LENGTH_BYTES;
    const end = (settle: () => void): void => {
      stream.off('data', take);
      stream.off('end', cut);
      settle();
    };
    const cut = (): void => end(() => reject(new FrameCut('The frame is cut.')));
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      have += chunk.length;
      try {
        if (have > bytesMax) throw new Error(`The frame has more than ${bytesMax} bytes.`);
        if (have < expected) return;
        const all = Buffer.concat(chunks);
        chunks.splice(0, chunks.length, all);
        expected = lengthOf(all);
        if (have >= expected) end(() => resolve(split<Head>(all)));
      } catch (error) {
        end(() => reject(error as Error));
      }
    };
    stream.on('data', take).once('end', cut).once('error', cut);
  });
}

/** How long the frame is, as far as that can be seen. */
function lengthOf(all: Buffer): number {
  const head = LENGTH_BYTES + all.readUInt32BE();
  if (all.length < head) return head;
  const { contents } = headOf<{ contents: readonly ListedContent[] }>(all);
  return contents.reduce((sum, [, bytes]) => sum + count(bytes), head);
}

function split<Head extends { readonly contents: readonly ListedContent[] }>(
  all: Buffer,
): Frame<Head> {
  const head = headOf<Head>(all);
  let at = LENGTH_BYTES + all.readUInt32BE();
  const contents = new Map<string, Buffer>();
  for (const [hash, bytes] of head.contents) {
    contents.set(hash, all.subarray(at, at + bytes));
    at += bytes;
  }
  return { head, contents };
}

function headOf<Head>(all: Buffer): Head {
  const end = LENGTH_BYTES + all.readUInt32BE();
  return JSON.parse(all.subarray(LENGTH_BYTES, end).toString('utf8')) as Head;
}

function count(bytes: unknown): number {
  if (Number.isSafeInteger(bytes) && (bytes as number) >= 0) return bytes as number;
  throw new Error('The frame lists a content without a length.');
}
