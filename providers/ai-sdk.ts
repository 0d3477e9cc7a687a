/**
 * Any model that implements the AI SDK's provider interface (v2, v3, v4), by its shape: no package of the
 * AI SDK is needed here.
 * Invariants: one attempt per call, always streamed; a reply is returned only after its end, which says that
 * it is complete, or as `partial` after the caller aborted; the object that answers is not trusted.
 */
import type { LanguageModel } from '../pure/language-model.js';
import { acceptPart, newAssembly, streamPart, type Assembly } from './ai-sdk/assembly.js';
import { readPartDeltas } from './ai-sdk/deltas.js';
import { aiSdkFailure } from './ai-sdk/failure.js';
import { replyOf } from './ai-sdk/reply.js';
import { optionsOf } from './ai-sdk/request.js';
import { receivedOutput, stallLimitsOf, unsentReply } from './attempt.js';
import { usedCallIds } from './call-ids.js';
import type { JsonRecord } from './json-record.js';
import { modelFailure, type ModelProgress, type ModelRequest, type Provider } from './provider.js';
import { startStallWatch, type StallLimits, type StallWatch } from './stall-watch.js';
import { BadStream, CutStream, StalledStream } from './stream-errors.js';

export interface AiSdkSettings extends Partial<StallLimits> {
  /** By which routes name it. */
  readonly name: string;
  readonly model: LanguageModel;
  /** Sent with every request, as the package of the vendor takes them. */
  readonly providerOptions?: JsonRecord;
}

export function createAiSdkProvider(settings: AiSdkSettings): Provider {
  const { name, model, providerOptions } = settings;
  const limits = stallLimitsOf(settings);
  return {
    name,
    async complete(request, progress) {
      if (request.model !== model.modelId) throw otherModel(request, settings);
      const options = optionsOf(request, model, providerOptions);
      if (progress.signal.aborted) return unsentReply(request);
      const assembly = newAssembly();
      await performAttempt({ model, options, limits, progress, assembly });
      const { messages, metadata } = request;
      const ids = { usedIds: usedCallIds(messages), call: metadata?.call ?? 0 };
      return replyOf(assembly, { ...ids, model: request.model, vendor: model.provider });
    },
  };
}

interface Attempt {
  readonly model: LanguageModel;
  readonly options: JsonRecord;
  readonly limits: StallLimits;
  readonly progress: ModelProgress;
  readonly assembly: Assembly;
}

async function performAttempt(attempt: Attempt): Promise<void> {
  const { limits, progress, assembly } = attempt;
  const watch = startStallWatch(limits, progress.signal);
  try {
    await readParts(attempt, watch);
  } catch (error) {
    const stalled = watch.stalled();
    if (stalled === undefined && progress.signal.aborted) return;
    const received = { started: assembly.started, outputTokens: receivedOutput(assembly) };
    const why =
      stalled === undefined ? error : new StalledStream(`The model API stalled: ${stalled}.`);
    throw aiSdkFailure(why, { received });
  } finally {
    watch.stop();
  }
}

type Send = (options: unknown) => PromiseLike<{ readonly stream: object }>;

async function readParts(attempt: Attempt, watch: StallWatch): Promise<void> {
  const { model, options, progress, assembly } = attempt;
  const { signal } = watch;
  const send = model.doStream.bind(model) as Send;
  const answer = await unlessAborted(() => send({ ...options, abortSignal: signal }), signal);
  const reader = readerOf(answer);
  const deltas = readPartDeltas();
  try {
    while (assembly.ending === undefined) {
      const { done, value } = await unlessAborted(() => reader.read(), signal);
      if (done) throw new CutStream('The stream of the model ended before its message did.');
      watch.sawBytes();
      progress.onProgress();
      const part = streamPart(value);
      if (part.type === 'error') throw part['error'];
      if (!acceptPart(assembly, part)) continue;
      watch.sawContent();
      if (progress.onDelta !== undefined) deltas(part).forEach(progress.onDelta);
    }
  } finally {
    // Whether it was read to its end or not: nothing more of it is wanted.
    void Promise.resolve(reader.cancel()).catch(() => undefined);
  }
  checkEnding(assembly, model);
}

interface PartReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(): Promise<void>;
}

function readerOf(answer: unknown): PartReader {
  const { stream } = (answer ?? {}) as { readonly stream?: Partial<ReadableStream<unknown>> };
  if (typeof stream?.getReader !== 'function') throw new BadStream('it is no stream');
  return stream.getReader() as PartReader;
}

/** A package may not listen to the signal: its promise is left behind then. */
function unlessAborted<T>(work: () => PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new CutStream('The request was given up.'));
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    const done = (): void => signal.removeEventListener('abort', stop);
    Promise.resolve(work()).then(resolve, reject).finally(done);
  });
}

/** Packages do not throw for a stream that was cut: its end says so. */
function checkEnding({ ending }: Assembly, { provider }: LanguageModel): void {
  if (ending?.kind === 'error') {
    throw new BadStream(
      `the model ended it with an error (${ending.raw ?? 'it does not say which'})`,
    );
  }
  // Ollama's package says so of no stream with a call; Ollama counts at its end.
  const isUncounted = ending?.usageFinal === false && ending.usage.output === 0;
  if (ending?.kind !== 'complete' || (provider.startsWith('ollama') && isUncounted)) {
    throw new CutStream('The stream of the model was cut off before its message ended.');
  }
}

function otherModel(request: ModelRequest, { name, model }: AiSdkSettings) {
  return modelFailure(
    'InvalidRequest',
    `The model of ${name} is ${model.modelId}, and the run wants ${request.model}.`,
    { receivedInput: false, receivedOutputTokensEstimate: 0, shouldRetry: false },
  );
}
