/**
 * The worker's environment, parsed once. Besides cli/ the only place of the runtime that reads `process.env`.
 * Invariant: what is set but cannot be meant is refused by name, never replaced by a default.
 */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { LISTEN_RULE } from '../connection/reach-rules.js';
import { readPlace, type NamedPlace } from '../connection/index.js';
import { DEFAULT_ADDRESS, DEFAULT_NAMESPACE, reachOf, type ServerReach } from './reach.js';
import { HoldfastError } from '../core/state/errors.js';
import { isStoreUrl, refuseUnknownPlace } from '../store/place.js';
import type { StoreSync } from '../store/store.js';
import type { ConnectionSettings } from '../authoring/index.js';
import { projectFolder } from './project-folder.js';

export interface Environment {
  /** `localhost:7233` unless somebody names one. */
  readonly address: string;
  readonly namespace: string;
  /** Where variables and Temporal's profile say that the server is; absent what they do not say. */
  readonly named: NamedPlace;
  /** How the server is reached: by what is named here, then by the configuration. Errors: InvalidConfig. */
  readonly reach: (settings?: ConnectionSettings) => ServerReach;
  readonly taskQueue: string;
  /** Folder of local state; the store lies in it unless `HOLDFAST_STORE` says otherwise. */
  readonly home: string;
  /** Path of a file, or a `postgres://` URL. It may hold a password: show it with `shownPlace`. */
  readonly storePlace: string;
  /** How a store in a file gets its commits to the disk; absent: nobody has said so. */
  readonly storeSync?: StoreSync;
  readonly configFile?: string;
  /** Clients take nothing from a configuration: `HOLDFAST_CONFIG=none`. */
  readonly withoutConfig?: true;
  /** Of workflow code; absent: nobody has said so. */
  readonly stackTraces?: boolean;
  /** Where probes of a worker's process are answered; absent: nowhere. */
  readonly probeAddress?: string;
  /** Where the metrics of Temporal's SDK are; absent: nowhere. */
  readonly metricsAddress?: string;
  readonly anthropic: ModelAccess;
  readonly openai: ModelAccess;
  readonly litellm: ModelAccess;
  /** A variable that the configuration names: the key of an endpoint. */
  readonly secret: (variable: string) => string | undefined;
}

/** As they are, for whoever looks for secrets in them. */
export function environmentVariables(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

export interface ModelAccess {
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

/** In place of the name of a configuration. */
const NO_CONFIG = 'none';
/** Folder of local state, beside the configuration. */
export const HOME = '.holdfast';
const STORE_FILE = 'store.db';

const text = z.string().trim().min(1, 'must not be blank').max(4_096);
const listened = text.refine(LISTEN_RULE.fits, `must be ${LISTEN_RULE.is}`).optional();
const schema = z.object({
  HOLDFAST_TASK_QUEUE: text.default('holdfast'),
  HOLDFAST_HOME: text.optional(),
  HOLDFAST_STORE: text.optional(),
  HOLDFAST_STORE_SYNC: z.enum(['each', 'shared'], 'must be each or shared').optional(),
  HOLDFAST_CONFIG: text.optional(),
  HOLDFAST_STACK_TRACES: z.enum(['true', 'false'], 'must be true or false').optional(),
  HOLDFAST_PROBE_ADDRESS: listened,
  HOLDFAST_METRICS_ADDRESS: listened,
  ANTHROPIC_API_KEY: text.optional(),
  ANTHROPIC_BASE_URL: z.url('must be a URL').optional(),
  OPENAI_API_KEY: text.optional(),
  OPENAI_BASE_URL: z.url('must be a URL').optional(),
  LITELLM_API_KEY: text.optional(),
  LITELLM_BASE_URL: z.url('must be a URL').optional(),
});

/**
 * Reads the environment; throws InvalidConfig naming the variable. Paths are relative to `folder`; local state lies
 * beside the configuration, else in `folder`.
 */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
  folder: string = process.cwd(),
): Environment {
  const result = schema.safeParse(variables);
  if (!result.success) {
    const issue = result.error.issues[0];
    const name = String(issue?.path[0]);
    throw new HoldfastError(
      'InvalidConfig',
      `The environment variable ${name} cannot be used: it ${issue?.message ?? 'is not valid'}.`,
      { hint: `Correct ${name}, or unset it to get its default.` },
    );
  }
  const read = result.data;
  const withoutConfig = read.HOLDFAST_CONFIG === NO_CONFIG;
  const configFile =
    read.HOLDFAST_CONFIG === undefined || withoutConfig
      ? undefined
      : resolve(folder, read.HOLDFAST_CONFIG);
  // Started in any folder of a project, all its processes share one store.
  const home =
    read.HOLDFAST_HOME === undefined
      ? join(projectFolder(folder, configFile), HOME)
      : resolve(folder, read.HOLDFAST_HOME);
  const named = readPlace({ variables, folder });
  return {
    address: named.address ?? DEFAULT_ADDRESS,
    namespace: named.namespace ?? DEFAULT_NAMESPACE,
    named,
    reach: (settings) => reachOf({ variables, folder, settings }),
    taskQueue: read.HOLDFAST_TASK_QUEUE,
    home,
    storePlace:
      read.HOLDFAST_STORE === undefined
        ? join(home, STORE_FILE)
        : storePlaceIn(folder, read.HOLDFAST_STORE),
    ...(read.HOLDFAST_STORE_SYNC !== undefined && { storeSync: read.HOLDFAST_STORE_SYNC }),
    ...(configFile !== undefined && { configFile }),
    ...(withoutConfig && { withoutConfig }),
    ...(read.HOLDFAST_STACK_TRACES !== undefined && {
      stackTraces: read.HOLDFAST_STACK_TRACES === 'true',
    }),
    ...(read.HOLDFAST_PROBE_ADDRESS !== undefined && { probeAddress: read.HOLDFAST_PROBE_ADDRESS }),
    ...(read.HOLDFAST_METRICS_ADDRESS !== undefined && {
      metricsAddress: read.HOLDFAST_METRICS_ADDRESS,
    }),
    anthropic: access(read.ANTHROPIC_API_KEY, read.ANTHROPIC_BASE_URL),
    openai: access(read.OPENAI_API_KEY, read.OPENAI_BASE_URL),
    litellm: access(read.LITELLM_API_KEY, read.LITELLM_BASE_URL),
    secret: (variable) => variables[variable]?.trim() || undefined,
  };
}

/** A store as somebody in `folder` names it: a URL as it is, a path from there. Errors: `InvalidConfig`. */
export function storePlaceIn(folder: string, place: string): string {
  refuseUnknownPlace(place);
  return isStoreUrl(place) ? place : resolve(folder, place);
}

function access(apiKey: string | undefined, baseUrl: string | undefined): ModelAccess {
  return { ...(apiKey !== undefined && { apiKey }), ...(baseUrl !== undefined && { baseUrl }) };
}
