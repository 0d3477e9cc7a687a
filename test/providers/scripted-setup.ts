/** A scripted server and an Anthropic provider that talks to it, for one test file. */
import { createAnthropicProvider, type AnthropicSettings } from '../../providers/anthropic.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ModelFailureDetails, ModelReply, ModelRequest } from '../../providers/provider.js';
import { scriptOf, type ScriptedAnswer } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';

const running: ScriptedModel[] = [];

export async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((model) => model.stop()));
}

export interface Setup {
  readonly model: ScriptedModel;
  readonly ask: (request?: Partial<ModelRequest>, signal?: AbortSignal) => Promise<ModelReply>;
  readonly chunks: () => number;
}

export async function serving(
  replies: readonly ScriptedAnswer[],
  settings: Partial<AnthropicSettings> = {},
): Promise<Setup> {
  const model = await startScriptedModel({ script: scriptOf(replies) });
  running.push(model);
  const provider = createAnthropicProvider({ apiKey: 'k', baseUrl: model.baseUrl, ...settings });
  let chunks = 0;
  return {
    model,
    chunks: () => chunks,
    ask: (request = {}, signal = new AbortController().signal) =>
      provider.complete(requestOf(request), { signal, onProgress: () => void (chunks += 1) }),
  };
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
  readonly message: string;
  readonly details: ModelFailureDetails;
}

/** The failure of a call that must fail as a provider fails. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HoldfastError))
    throw new Error('expected a HoldfastError', { cause: error });
  return {
    code: error.code,
    message: error.message,
    details: error.details as unknown as ModelFailureDetails,
  };
}

/** The body of the last request that the server got. */
export function lastBody(model: ScriptedModel): Record<string, unknown> {
  return JSON.parse(model.requests().at(-1)?.body ?? 'null') as Record<string, unknown>;
}
