/**
 * The line between a worker and its server, on which messages of single runs get lost: a relay of gRPC over
 * HTTP/2 that knows of each message which run it is about, and nothing else of what is in it.
 * Invariant: from the message on that a run loses, nothing about that run gets through any more in either
 * direction: its server stands exactly where that message found it or left it.
 */
import {
  connect,
  createServer,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A message by which a run gets on: a task that is handed out, or the outcome of one. */
export interface Message {
  readonly runId: string;
  /** The cycle of the run, with the mark before it; empty: the run itself. */
  readonly cycle: string;
  /** Of all such messages about its run and its cycles, from 0. */
  readonly number: number;
  /** Name of the call, `PollWorkflowTaskQueue` for example. */
  readonly name: string;
  /** The activity it is about, or whatever a workflow decided; empty when that is nothing, or not told. */
  readonly about: string;
  /** Of all messages of this name about the same, from 0. */
  readonly nth: number;
}

/** Whether both are the same message of a story that was told twice. */
export function isSameMessage(one: Message, other: Message): boolean {
  return keyOf(one) === keyOf(other) && one.nth === other.nth;
}

function keyOf({ cycle, name, about }: Pick<Message, 'cycle' | 'name' | 'about'>): string {
  return `${cycle} ${name} ${about}`;
}

/** `unsent`: the server never has it. `unheard`: the server has done it, and the worker never hears so. */
export type Fate = 'delivered' | 'unsent' | 'unheard';

export interface WireOptions {
  /** Of the server. */
  readonly address: string;
  /** Finds the id of a run in a message: in its first group; in its second one the cycle. */
  readonly runId: RegExp;
  /** Finds the kind of an activity in a message. */
  readonly activity: RegExp;
  /** Finds what a workflow decided in its answer. */
  readonly decision?: RegExp;
  readonly fate: (message: Message) => Fate;
}

export interface Wire {
  /** What a worker connects to. */
  readonly address: string;
  /** Everything that got as far as its fate, in order. */
  readonly messages: readonly Message[];
  /** Runs that have lost a message. */
  readonly cut: ReadonlySet<string>;
  /** Everything gets through again. */
  mend(): void;
  stop(): Promise<void>;
}

/** Calls that hand a task out; which run it is about is known when they are answered. */
const HANDS_OUT = /^Poll(Workflow|Activity)TaskQueue$/;
/** Calls that bring an outcome. */
const BRINGS = /^Respond(WorkflowTask|ActivityTask)/;
/** Says of which workflow, and not what of it. */
const IDLE = /^PollWorkflowTask/;
const DECIDES = /^RespondWorkflowTaskCompleted/;
const BODY_BYTES_MAX = 16 * 1024 * 1024;
const STREAMS_MAX = 1_000;
/** Before each message: whether it is compressed, and its length. */
const FRAME_HEADER_BYTES = 5;
const COMPRESSED = 1;

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly trailers: IncomingHttpHeaders;
}

export async function startWire(options: WireOptions): Promise<Wire> {
  const messages: Message[] = [];
  const cut = new Set<string>();
  const counts = new Map<string, number>();
  const counted = (what: string): number => {
    const number = counts.get(what) ?? 0;
    counts.set(what, number + 1);
    return number;
  };
  let mended = false;
  const sessions = new Map<ServerHttp2Session, ClientHttp2Session>();

  function judge(name: string, body: Buffer): Fate {
    const text = contentOf(body).toString('latin1');
    const [, runId, cycle = ''] = options.runId.exec(text) ?? [];
    if (runId === undefined || mended) return 'delivered';
    if (cut.has(runId)) return 'unsent';
    // A heartbeat, for example: it changes nothing that is kept.
    if (!HANDS_OUT.test(name) && !BRINGS.test(name)) return 'delivered';
    const about = subjectOf(name, text);
    const nth = counted(`${runId} ${keyOf({ cycle, name, about })}`);
    const message = { runId, cycle, number: counted(runId), name, about, nth };
    messages.push(message);
    const fate = options.fate(message);
    if (fate !== 'delivered') cut.add(runId);
    return fate;
  }

  /** Of a decision that makes several things happen, whatever it is named by first. */
  function subjectOf(name: string, text: string): string {
    const decided = DECIDES.test(name) ? options.decision?.exec(text) : undefined;
    const [subject = ''] =
      decided ?? (IDLE.test(name) ? undefined : options.activity.exec(text)) ?? [];
    return subject;
  }

  async function relay(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const name = String(headers[':path']).split('/').at(-1) ?? '';
    const body = await bodyOf(stream);
    const upstream = sessions.get(stream.session as ServerHttp2Session);
    if (upstream === undefined) {
      stream.destroy();
      return;
    }
    // What stays unanswered here keeps its caller waiting, as a dead line does.
    const fate = HANDS_OUT.test(name) ? 'delivered' : judge(name, body);
    if (fate === 'unsent') return;
    const answer = await ask(upstream, headers, { body, stream });
    if (fate === 'unheard' || stream.destroyed) return;
    const empty = contentOf(answer.body).length === 0;
    // Nobody polls any more for a task that got lost: its poller is told that there was none.
    const lost = HANDS_OUT.test(name) && !empty && judge(name, answer.body) !== 'delivered';
    send(stream, lost ? { ...answer, body: Buffer.alloc(FRAME_HEADER_BYTES) } : answer);
  }

  const server = createServer({ settings: { maxConcurrentStreams: STREAMS_MAX } });
  server.on('session', (session) => {
    const upstream = connect(`http://${options.address}`);
    upstream.on('error', () => session.destroy());
    upstream.on('close', () => session.destroy());
    session.on('error', () => upstream.destroy());
    session.on('close', () => {
      sessions.delete(session);
      upstream.destroy();
    });
    sessions.set(session, upstream);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    relay(stream, headers).catch(() => stream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    cut,
    mend() {
      mended = true;
      cut.clear();
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const [session, upstream] of sessions) {
          session.destroy();
          upstream.destroy();
        }
      }),
  };
}

async function bodyOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('a message is too large for this wire');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The message in its frame; none is as good as an empty one. */
function contentOf(body: Buffer): Buffer {
  const content = body.subarray(FRAME_HEADER_BYTES);
  return body[0] === COMPRESSED ? gunzipSync(content) : content;
}

interface Question {
  readonly body: Buffer;
  /** Whoever asks; the question ends with it. */
  readonly stream: ServerHttp2Stream;
}

async function ask(
  upstream: ClientHttp2Session,
  headers: IncomingHttpHeaders,
  { body, stream }: Question,
): Promise<Answer> {
  const request = upstream.request(sendable(headers));
  stream.on('close', () => request.destroy());
  let trailers: IncomingHttpHeaders = {};
  request.on('trailers', (given: IncomingHttpHeaders) => (trailers = given));
  const answered = new Promise<IncomingHttpHeaders>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
    request.once('close', () => reject(new Error('the server hung up')));
  });
  request.end(body);
  const responseHeaders = await answered;
  return { headers: responseHeaders, body: await bodyOf(request), trailers };
}

function send(stream: ServerHttp2Stream, { headers, body, trailers }: Answer): void {
  if (stream.destroyed) return;
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.respond(sendable(headers), { waitForTrailers: true });
  stream.end(body);
}

/** Without what belongs to one connection only. */
function sendable(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection: _, 'content-length': __, ...rest } = headers;
  return rest;
}
