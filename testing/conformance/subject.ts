/** What is put to the test, and what every check does with it. */
import assert from 'node:assert/strict';
import { HoldfastError } from '../../core/state/errors.js';
import type {
  ModelFailureDetails,
  ModelReply,
  ModelRequest,
  Provider,
} from '../../providers/provider.js';
import { scriptOf, type Script, type ScriptedAnswer } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';
import type { WireEntry } from './wire-conversation.js';

export interface ProviderUnderTest {
  /** The provider, talking to a server at this address; its watch for stalls uses these limits. */
  readonly connect: (baseUrl: string, limits: StallTimes) => Provider;
  /** The conversation that a request's body says, entry by entry. */
  readonly readConversation: (body: string) => readonly WireEntry[];
  /** A server that plays a script in the protocol; default: the scripted model, which speaks three. */
  readonly serve?: (script: Script) => Promise<ScriptedModel>;
}

export interface StallTimes {
  readonly stallMs: number;
  readonly quietMs: number;
}

/** One thing that a provider must do; `run` rejects if it does not. For any test runner. */
export interface ProviderCheck {
  readonly name: string;
  readonly run: () => Promise<void>;
}

export interface Session {
  readonly model: ScriptedModel;
  readonly ask: (request?: Partial<ModelRequest>, signal?: AbortSignal) => Promise<ModelReply>;
  /** Chunks reported so far. */
  readonly chunks: () => number;
}

const PATIENT: StallTimes = { stallMs: 60_000, quietMs: 60_000 };

export interface SessionOptions {
  readonly replies: readonly ScriptedAnswer[];
  readonly limits?: StallTimes;
}

/** A server with these replies for as long as `use` takes. */
export async function withSession(
  subject: ProviderUnderTest,
  { replies, limits = PATIENT }: SessionOptions,
  use: (session: Session) => Promise<void>,
): Promise<void> {
  const script = scriptOf(replies);
  const model = await (subject.serve?.(script) ?? startScriptedModel({ script }));
  try {
    const provider = subject.connect(model.baseUrl, limits);
    let chunks = 0;
    await use({
      model,
      chunks: () => chunks,
      ask: (request = {}, signal = new AbortController().signal) =>
        provider.complete(requestOf(request), { signal, onProgress: () => void (chunks += 1) }),
    });
  } finally {
    await model.stop();
  }
}

export function requestOf(request: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'scripted-model',
    system: 'Be brief.',
    tools: [],
    messages: [{ role: 'user', blocks: [{ type: 'text', text: 'Hello' }] }],
    maxTokens: 1000,
    metadata: { runId: 'run-1', call: 3 },
    ...request,
  };
}

export interface Failure {
  readonly code: string;
  readonly details: ModelFailureDetails;
}

/** The failure of a call that must fail as a provider fails. */
export async function failureOf(call: Promise<ModelReply>): Promise<Failure> {
  const outcome: unknown = await call.then(
    (reply) => ({ reply }),
    (thrown: unknown) => thrown,
  );
  assert(outcome instanceof HoldfastError, `a HoldfastError, not ${describe(outcome)}`);
  const details = outcome.details as unknown as ModelFailureDetails;
  assert.equal(typeof details.shouldRetry, 'boolean', 'details.shouldRetry');
  assert.equal(typeof details.receivedInput, 'boolean', 'details.receivedInput');
  return { code: outcome.code, details };
}

function describe(value: unknown): string {
  return value instanceof Error ? value.message : JSON.stringify(value);
}
