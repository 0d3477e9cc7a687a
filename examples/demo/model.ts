/** The model of an example: the real one with a key, else a script on loopback that speaks its protocol. */
import { createAnthropicProvider, type Provider } from '../../worker/index.js';
import { startScriptedModel, type Script } from '../../testing/index.js';
import type { Closers } from './closers.js';

export interface Model {
  readonly name: 'scripted' | 'anthropic';
  /** For the worker. */
  readonly providers: ReadonlyMap<string, Provider>;
}

export interface ModelWanted {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly script: Script;
  readonly closers: Closers;
}

export async function modelFor({ environment, script, closers }: ModelWanted): Promise<Model> {
  const apiKey = environment['ANTHROPIC_API_KEY'];
  if (apiKey) {
    const baseUrl = environment['ANTHROPIC_BASE_URL'];
    const own = createAnthropicProvider({ apiKey, ...(baseUrl && { baseUrl }) });
    return { name: 'anthropic', providers: new Map([[own.name, own]]) };
  }
  const model = await startScriptedModel({ script });
  closers.add(model.stop);
  const provider = createAnthropicProvider({ apiKey: 'scripted', baseUrl: model.baseUrl });
  return { name: 'scripted', providers: new Map([[provider.name, provider]]) };
}

export function modelWords({ name }: Model): string {
  return name === 'scripted'
    ? 'scripted, on loopback, because ANTHROPIC_API_KEY is not set'
    : "Anthropic's, with your ANTHROPIC_API_KEY";
}
