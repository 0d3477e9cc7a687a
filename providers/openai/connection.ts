/** The SDK's client, as both of OpenAI's protocols use it: it sends and authenticates, nothing more. */
import OpenAI from 'openai';
import { type Attempt, type IncomingMessage, performAttempt, stallLimitsOf } from '../attempt.js';
import type { ModelProgress } from '../provider.js';
import { withoutSecret } from '../secret.js';
import type { StallLimits } from '../stall-watch.js';
import { readOpenAiAnswer } from './failure.js';

export interface OpenAiSettings extends Partial<StallLimits> {
  /** By which routes name it; default `openai`. */
  readonly name?: string;
  readonly apiKey: string;
  /** With its version: `https://api.openai.com/v1`, `http://localhost:4000/v1`. */
  readonly baseUrl?: string;
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string };
  /** What sends the requests; default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface OpenAiConnection {
  readonly client: OpenAI;
  readonly apiKey: string;
  readonly limits: StallLimits;
}

const BASE_URL = 'https://api.openai.com/v1';

export function connectOpenAi(settings: OpenAiSettings): OpenAiConnection {
  const client = new OpenAI({
    apiKey: settings.apiKey,
    // All are named so that the SDK does not look for them in the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: settings.baseUrl ?? BASE_URL,
    maxRetries: 0,
    logLevel: 'off',
    ...(settings.fetch !== undefined && { fetch: settings.fetch }),
    ...(settings.headers !== undefined && { defaultHeaders: { ...settings.headers } }),
  });
  return { client, apiKey: settings.apiKey, limits: stallLimitsOf(settings) };
}

export interface OpenAiRequest {
  readonly path: string;
  readonly body: object;
  readonly message: IncomingMessage;
  readonly progress: ModelProgress;
}

export async function sendToOpenAi(
  { client, apiKey, limits }: OpenAiConnection,
  { path, body, message, progress }: OpenAiRequest,
): Promise<void> {
  const attempt: Attempt = {
    limits,
    progress,
    send: (signal) =>
      client.post(path, { body, stream: true, signal, timeout: limits.quietMs }).asResponse(),
    message,
    requestIdHeader: 'x-request-id',
    readAnswer: readOpenAiAnswer,
  };
  await withoutSecret(apiKey, () => performAttempt(attempt));
}
