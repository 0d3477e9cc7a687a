/**
 * Endpoints by name: vendors and servers that speak a protocol that is known here.
 * Invariant: a name stands for an address and the name of a variable, never for a key.
 */
import { HoldfastError } from '../core/state/errors.js';
import { unknownField, type KnownFields } from './known-fields.js';
import type { Endpoint } from './models.js';

type Preset = Omit<Endpoint, 'name' | 'baseUrl'> & {
  /** Absent: it depends on the account, as in `example`. */
  readonly baseUrl?: string;
  readonly example?: string;
};

const PRESETS = {
  gemini: {
    protocol: 'chat',
    dialect: 'plain',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
  },
  groq: {
    protocol: 'chat',
    dialect: 'plain',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
  },
  openrouter: {
    protocol: 'chat',
    dialect: 'plain',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
  },
  azure: {
    protocol: 'chat',
    dialect: 'openai',
    example: 'https://my-resource.openai.azure.com/openai/v1',
    keyVariable: 'AZURE_OPENAI_API_KEY',
  },
  bedrock: {
    protocol: 'chat',
    dialect: 'plain',
    example: 'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1',
    keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  },
  ollama: { protocol: 'chat', dialect: 'plain', baseUrl: 'http://localhost:11434/v1' },
  vllm: { protocol: 'chat', dialect: 'plain', baseUrl: 'http://localhost:8000/v1' },
} as const satisfies { readonly [name: string]: Preset };

export type EndpointPreset = keyof typeof PRESETS;

/** A known endpoint with what is different about it. */
export interface PresetEndpoint {
  readonly preset: EndpointPreset;
  /** By which routes name it. Default: the name of the preset. */
  readonly name?: string;
  /** Needed for azure and bedrock, where it depends on the account. */
  readonly baseUrl?: string;
  /** The environment variable with its key. */
  readonly keyVariable?: string;
  readonly protocol?: Endpoint['protocol'];
}

/** `'groq'`, `{ preset: 'azure', baseUrl }`, or a server of your own. */
export type EndpointDefinition = EndpointPreset | PresetEndpoint | Endpoint;

/** Names that people look for here, and what reaches them. */
const BY_PACKAGE: ReadonlyMap<string, string> = new Map([
  ['mistral', '@ai-sdk/mistral'],
  ['vertex', '@ai-sdk/google-vertex'],
]);

const FIELDS: KnownFields<PresetEndpoint> = {
  preset: true,
  name: true,
  baseUrl: true,
  keyVariable: true,
  protocol: true,
};

/** Errors: InvalidConfig, for a name that is no preset, or lacks its address. */
export function endpointOf(definition: EndpointDefinition): Endpoint {
  const given = typeof definition === 'string' ? { preset: definition } : definition;
  if (typeof given !== 'object' || given === null || !('preset' in given)) return given;
  const unknown = unknownField(given, FIELDS);
  if (unknown !== undefined)
    throw wrong(`An endpoint has no field ${unknown.name} beside its preset.`, unknown.hint);
  const { preset: name, ...said } = given;
  // What a program leaves undefined is not different.
  const different = Object.fromEntries(
    Object.entries(said).filter(([, value]) => value !== undefined),
  ) as Omit<PresetEndpoint, 'preset'>;
  const preset: Preset = presetOf(name);
  const { example, ...usual } = preset;
  const { baseUrl = usual.baseUrl } = different;
  if (baseUrl === undefined) {
    const hint = `Say where it is: { preset: '${name}', baseUrl: '${example}' }.`;
    throw wrong(`The address of endpoint ${name} depends on the account.`, hint);
  }
  return { ...usual, name, ...different, baseUrl };
}

function presetOf(name: string): Preset {
  if (Object.hasOwn(PRESETS, name)) return PRESETS[name as EndpointPreset];
  const shown = JSON.stringify(String(name).slice(0, 60));
  const byPackage = BY_PACKAGE.get(name);
  const hint =
    byPackage === undefined
      ? `The presets are ${Object.keys(PRESETS).join(', ')}; a server of your own is { name, protocol, baseUrl }.`
      : `Use the package ${byPackage} in \`models\`; see docs/guide/ai-sdk-models.md in the package holdfast.`;
  throw wrong(`There is no endpoint ${shown}.`, hint);
}

function wrong(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The configuration cannot be used. ${what}`, { hint });
}
