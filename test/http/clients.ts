/** The AI SDK's own clients of both majors, bundled once for each process of tests: they are modules, and tests are not. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { UiChunk } from '../../http/projection/index.js';

export interface ClientPart {
  readonly type: string;
  readonly text?: string;
  readonly state?: string;
  readonly toolCallId?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly errorText?: string;
  readonly approval?: { readonly id: string; readonly approved?: boolean };
  readonly data?: { readonly [name: string]: unknown };
  readonly providerMetadata?: unknown;
  readonly callProviderMetadata?: unknown;
}

export interface ClientMessage {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly ClientPart[];
}

export interface ChatClient {
  readonly status: string;
  readonly error: Error | undefined;
  readonly messages: readonly ClientMessage[];
  sendMessage(message: object, options?: object): Promise<void>;
  addToolApprovalResponse(answer: {
    readonly id: string;
    readonly approved: boolean;
    readonly reason?: string;
  }): Promise<void>;
  regenerate(options?: { readonly messageId?: string }): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
}

interface Sdk {
  readonly AbstractChat: new (init: object) => ChatClient;
  readonly DefaultChatTransport: new (init: object) => object;
  readonly lastAssistantMessageIsCompleteWithApprovalResponses: unknown;
  readonly readUIMessageStream: (of: object) => AsyncIterable<ClientMessage>;
}

export const MAJORS = ['v6', 'v7'] as const;
export type Major = (typeof MAJORS)[number];

const NAMES = [
  'AbstractChat',
  'DefaultChatTransport',
  'lastAssistantMessageIsCompleteWithApprovalResponses',
  'readUIMessageStream',
];
const loaded = new Map<Major, Sdk>();

export function sdkOf(major: Major): Sdk {
  const known = loaded.get(major);
  if (known !== undefined) return known;
  const outfile = join(mkdtempSync(join(tmpdir(), 'holdfast-ai-')), `ai-${major}.cjs`);
  const contents = `export { ${NAMES.join(', ')} } from 'ai-${major}';`;
  buildSync({
    stdin: { contents, resolveDir: __dirname },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'error',
    outfile,
  });
  const sdk = require(outfile) as Sdk;
  loaded.set(major, sdk);
  return sdk;
}

export interface ChatSettings {
  readonly id: string;
  readonly api: string;
  readonly fetch?: typeof fetch;
  readonly headers?: Readonly<Record<string, string>>;
  readonly messages?: readonly ClientMessage[];
}

/** A chat as `useChat` has it, without React. */
export function openChat(
  major: Major,
  { id, api, headers = {}, messages = [], ...rest }: ChatSettings,
): ChatClient {
  const sdk = sdkOf(major);
  const profile = major === 'v7' ? { 'holdfast-ui-profile': 'v7' } : {};
  return new sdk.AbstractChat({
    id,
    state: new State(messages),
    transport: new sdk.DefaultChatTransport({ api, headers: { ...profile, ...headers }, ...rest }),
    sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

class State {
  status = 'ready';
  error: Error | undefined;
  messages: ClientMessage[];

  constructor(messages: readonly ClientMessage[]) {
    this.messages = [...messages];
  }

  pushMessage = (message: ClientMessage): void => {
    this.messages = [...this.messages, message];
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: ClientMessage): void => {
    this.messages = this.messages.map((one, at) => (at === index ? structuredClone(message) : one));
  };

  snapshot = <T>(thing: T): T => structuredClone(thing);
}

/** The message that a client makes of chunks. */
export async function readChunks(
  major: Major,
  chunks: readonly UiChunk[],
): Promise<ClientMessage | undefined> {
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: ClientMessage | undefined;
  for await (const message of sdkOf(major).readUIMessageStream({ stream })) {
    last = structuredClone(message);
  }
  return last;
}
