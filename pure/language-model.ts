/**
 * A model as the AI SDK's provider packages make it, known by its shape alone: no package of the AI SDK is needed.
 * Invariant: nothing of it stands in a run; runs name it by the name that the configuration gives it.
 */

/** Anything with this shape: `google('gemini-…')`, `bedrock('…')`, `mistral('…')`. */
export interface LanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  /** The package's name of its vendor: 'google.generative-ai'. */
  readonly provider: string;
  readonly modelId: string;
  /** One attempt of one streamed request. */
  doStream(options: never): PromiseLike<{ readonly stream: object }>;
}

export const SPECIFICATIONS = ['v2', 'v3', 'v4'] as const;
const ID_CHARS_MAX = 200;
const PROVIDER_CHARS_MAX = 100;

/** Why something is no such model; undefined: it is one. */
export function modelDefect(value: unknown): string | undefined {
  if (typeof value === 'string') return `it is the text ${JSON.stringify(value.slice(0, 100))}`;
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    return 'it is no object';
  const { specificationVersion, provider, modelId, doStream } = value as Record<string, unknown>;
  if (!SPECIFICATIONS.some((known) => known === specificationVersion)) {
    const said =
      typeof specificationVersion === 'string' ? specificationVersion.slice(0, 20) : 'none';
    return `its specificationVersion is ${said}, and not ${SPECIFICATIONS.join(', ')}`;
  }
  if (!isName(modelId, ID_CHARS_MAX)) return 'its modelId is no short text';
  if (!isName(provider, PROVIDER_CHARS_MAX)) return 'its provider is no short text';
  return typeof doStream === 'function' ? undefined : 'it has no function doStream';
}

function isName(value: unknown, max: number): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= max;
}
