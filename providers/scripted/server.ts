/**
 * The scripted model: a loopback server that speaks the vendors' protocols from a script, for demos, tests and
 * benches: Anthropic's Messages, OpenAI's Chat Completions and Responses. It holds no conversation: everything a reply depends on is in the request.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  openRequestLog,
  type LoggedRequest,
  type RequestLog,
  type RequestLogOptions,
} from './request-log.js';
import { CHAT_PROTOCOL } from './chat-protocol.js';
import { MESSAGES_PROTOCOL } from './messages-protocol.js';
import type { Protocol } from './protocol.js';
import { BYTES_PER_TOKEN } from './render.js';
import { replyDefect } from './reply-fields.js';
import { RESPONSES_PROTOCOL } from './responses-protocol.js';
import { replyFor, type Script, type ScriptedReply, type ScriptedRequest } from './script.js';
import { sendFailure, sendReply, sendWhole } from './send.js';

export interface ScriptedModelOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number;
  readonly script: Script;
  readonly log?: RequestLogOptions;
  /** A process that has nothing else to do may end; default: the server keeps it. */
  readonly background?: true;
}

/** A model server on loopback that answers by a script. */
export interface ScriptedModel {
  readonly baseUrl: string;
  /** The last requests for messages, oldest first. */
  requests(): readonly LoggedRequest[];
  /** Requests that the script had no reply for. */
  exhausted(): number;
  stop(): Promise<void>;
}

/** Begins what is told of a script that throws, or says what cannot be sent. */
export const SCRIPT_FAILED = 'the script failed';
const PROTOCOLS: readonly Protocol[] = [MESSAGES_PROTOCOL, CHAT_PROTOCOL, RESPONSES_PROTOCOL];
const HOST = '127.0.0.1';
const BODY_BYTES_MAX = 64 * 1024 * 1024;
const KEYS_MAX = 100_000;
const KEEP_ALIVE_MS = 120_000;

interface Serving {
  readonly script: Script;
  readonly log: RequestLog;
  readonly attempts: Map<string, number>;
  exhausted: number;
}

/** Starts a model server on loopback that answers by a script, in the words of the vendors' protocols. */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const log = openRequestLog(options.log);
  const serving: Serving = { script: options.script, log, attempts: new Map(), exhausted: 0 };
  const server = createServer((request, response) => {
    serve(serving, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else fail(response, 500, `${SCRIPT_FAILED}: ${String(error)}`);
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // A client waits for its answer by itself; kept connections alone keep no process.
  if (options.background) server.on('connection', (socket) => socket.unref());
  await listen(server, options.port ?? 0);
  if (options.background) server.unref();
  const { port } = server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  return {
    baseUrl: `http://${HOST}:${port}`,
    requests: () => log.entries(),
    exhausted: () => serving.exhausted,
    stop: () => (stopped ??= close(server).finally(() => log.close())),
  };
}

async function serve(
  serving: Serving,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (incoming.url ?? '').split('?', 1)[0] ?? '';
  const body = await readBody(incoming);
  const protocol = PROTOCOLS.find((each) => each.path === path);
  if (body === undefined) {
    fail(response, 413, 'request body too large');
  } else if (incoming.method === 'POST' && protocol !== undefined) {
    await serveMessage(serving, { body, protocol }, response);
  } else if (incoming.method === 'POST' && path === '/v1/messages/count_tokens') {
    const counted = { input_tokens: Math.ceil(body.length / BYTES_PER_TOKEN) };
    sendWhole(response, { 'content-type': 'application/json' }, JSON.stringify(counted));
  } else {
    fail(response, 404, 'no such path');
  }
}

function fail(response: ServerResponse, status: number, message: string): void {
  sendFailure(response, { status, message }, MESSAGES_PROTOCOL);
}

async function serveMessage(
  serving: Serving,
  { body: bytes, protocol }: { readonly body: Buffer; readonly protocol: Protocol },
  response: ServerResponse,
): Promise<void> {
  const body = bytes.toString('utf8');
  const parsed = protocol.parse(body);
  if (parsed === undefined) {
    const message = 'the body is not a request with messages';
    sendFailure(response, { status: 400, message }, protocol);
    return;
  }
  const request: ScriptedRequest = { ...parsed, attempt: nextAttempt(serving.attempts, parsed) };
  const said = replyFor(await serving.script(request), request.attempt);
  const defect = replyDefect(said);
  // The same at the next attempt: no failure of a vendor that is away.
  const reply: ScriptedReply =
    defect === undefined ? said : { status: 400, message: `${SCRIPT_FAILED}: ${defect}` };
  if ('status' in reply && reply.exhausted === true) serving.exhausted += 1;
  serving.log.add({
    path: protocol.path,
    runId: request.runId,
    assistantMessages: request.assistantMessages,
    attempt: request.attempt,
    model: request.model,
    messages: request.messages.length,
    bytes: bytes.length,
    answer: answerOf(reply),
    body,
  });
  await sendReply(response, { request, reply, protocol, bodyBytes: bytes.length });
}

function nextAttempt(
  attempts: Map<string, number>,
  request: Pick<ScriptedRequest, 'runId' | 'assistantMessages'>,
): number {
  const key = `${request.assistantMessages} ${request.runId}`;
  const attempt = (attempts.get(key) ?? 0) + 1;
  attempts.set(key, attempt);
  if (attempts.size > KEYS_MAX) {
    const oldest = attempts.keys().next();
    if (oldest.done !== true) attempts.delete(oldest.value);
  }
  return attempt;
}

function answerOf(reply: ScriptedReply): string {
  if ('garbage' in reply) return 'garbage';
  return 'status' in reply ? `failure ${reply.status}` : 'message';
}

async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (size > BODY_BYTES_MAX) return undefined;
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => resolve());
  });
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
