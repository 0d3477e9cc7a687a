/** What a chat handler is made of, checked when it is made. */
import type { KnownFields } from '../authoring/known-fields.js';
import { checkNames, LIMIT_PARTS } from '../client/closed-options.js';
import type { HoldfastClient, StartOptions } from '../client/index.js';
import { checkStart } from '../client/runs/check-start.js';
import { HoldfastError } from '../core/state/errors.js';
import {
  checkOptions as checkClosed,
  isRecord,
  oneOf,
  rules,
  type OptionRules,
} from '../pure/options.js';
import type { UiProfile } from './projection/index.js';

/** The person who speaks, as your own login has found out. */
export interface ChatActor {
  /** Names the person, the same at each request; their chats are theirs alone. */
  readonly id: string;
  /** What they may decide as. */
  readonly roles?: readonly string[];
}

/** Who a request is from. */
export interface Authorized {
  readonly actor: ChatActor;
  /** Default: the client's. */
  readonly tenant?: string;
}

/** How large requests and how long streams may be. */
export interface ChatLimits {
  /** Of a request: clients send the whole history, of which little is read. Default 4 MiB. */
  readonly bodyBytes: number;
  /** How long a request may take to arrive, in ms; default 30,000. */
  readonly bodyMs: number;
  /** Streams of this handler that are open at a time; default 1,000. */
  readonly streams: number;
  /** Of one person; default 20. */
  readonly streamsPerActor: number;
  /** How long a stream may last, in ms; default 900,000. The run goes on, and so does a stream that is resumed. */
  readonly streamMs: number;
  /** Characters of one stream; default 32 Mi. */
  readonly streamChars: number;
}

/** Which agent a chat speaks with, who may, and within which limits. */
export interface ChatHandlerOptions {
  /** Connected with the store of the workers. */
  readonly client: HoldfastClient;
  /** Name of the agent that answers. */
  readonly agent: string;
  /** Who asks, from the request alone; a `Response` refuses it. Called for each request, before its body is read. */
  readonly authorize?: (request: Request) => Authorized | Response | Promise<Authorized | Response>;
  /** True: without `authorize`, for requests to this machine alone. Default false. */
  readonly insecure?: boolean;
  /**
   * What the client takes, unless a request says it in the header `holdfast-ui-profile`. Default `v6`, which clients of
   * both majors of the AI SDK take.
   */
  readonly profile?: UiProfile;
  /** Whether the thinking of models is sent, as their vendors show it; default true. */
  readonly reasoning?: boolean;
  /**
   * True: people decide on calls that their own messages led to. Default false: nobody decides on their own request,
   * and somebody else does, at the approval desk for instance.
   */
  readonly ownDecisions?: boolean;
  /** Pages of these origins may call beside those of the handler's own. */
  readonly origins?: readonly string[];
  /** Of each run: what it may use, and under which settings; default: the agent's own. */
  readonly start?: Pick<StartOptions, 'budget' | 'model' | 'settings'>;
  readonly limits?: Partial<ChatLimits>;
  /** Told of what goes wrong inside; default: standard error. */
  readonly say?: (line: string) => void;
}

export type CheckedOptions = ChatHandlerOptions & {
  readonly limits: ChatLimits;
  readonly say: (line: string) => void;
};

const DEFAULT_LIMITS: ChatLimits = {
  bodyBytes: 4 * 1024 * 1024,
  bodyMs: 30_000,
  streams: 1_000,
  streamsPerActor: 20,
  streamMs: 900_000,
  streamChars: 32 * 1024 * 1024,
};

const START: KnownFields<NonNullable<ChatHandlerOptions['start']>> = {
  budget: true,
  model: true,
  settings: true,
};

const LIMITS: OptionRules<ChatLimits> = rules(
  'any bodyBytes bodyMs streams streamsPerActor streamMs streamChars',
);
/** `null`: what browsers send from a frame in a sandbox. */
const ORIGIN = /^(null|[a-z][a-z\d+.-]*:\/\/[^/\sA-Z*?#@]+)$/;

function isOrigin(one: unknown): boolean {
  if (typeof one !== 'string' || !ORIGIN.test(one)) return false;
  return !/^https?:/.test(one) || (URL.canParse(one) && new URL(one).origin === one);
}

/** Longest delay of a timer. */
const LIMIT_MAX = 2_147_483_647;

const OPTIONS: OptionRules<ChatHandlerOptions> = {
  ...rules(
    'any client agent authorize start, object limits, flag insecure ownDecisions reasoning, call say',
  ),
  profile: oneOf('v6', 'v7'),
  origins: {
    // Compared with what browsers send, letter by letter.
    is: "a list of origins as browsers send them, such as 'https://example.com': each one by itself without *, a path, or the usual port",
    fits: (value) => Array.isArray(value) && value.every(isOrigin),
  },
};

/** Options that are null count as not given. Errors: InvalidConfig. */
export function checkOptions(given: ChatHandlerOptions): CheckedOptions {
  const options = withoutNulls(given);
  checkClosed('chatHandler', options, OPTIONS);
  checkClosed('limits of chatHandler', options.limits ?? {}, LIMITS);
  const { client, agent, authorize, insecure = false } = options;
  if (typeof client?.follow !== 'function') {
    throw invalid('client is none', 'Give what connect({ address, store }) gives.');
  }
  if (typeof agent !== 'string' || agent.trim() === '') {
    throw invalid('agent is no name', 'Give the name of an agent that a worker serves.');
  }
  if (authorize !== undefined && typeof authorize !== 'function') {
    throw invalid('authorize is no function', 'Give a function of the request.');
  }
  if (authorize === undefined && !insecure) {
    throw invalid(
      'nothing says who asks',
      'Give authorize; on your own machine insecure: true takes every request as one person.',
    );
  }
  if (authorize !== undefined && insecure) {
    throw invalid('authorize and insecure do not go together', 'Leave insecure out.');
  }
  checkChatStart(agent, options.start);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0 && value <= LIMIT_MAX) continue;
    throw invalid(`limits.${name.slice(0, 40)} is no limit`, 'Give a whole number above zero.');
  }
  return { ...options, limits, say: options.say ?? ((line) => console.error(line)) };
}

function withoutNulls(given: ChatHandlerOptions): ChatHandlerOptions {
  if (!isRecord(given)) return given;
  const set = Object.entries(given).filter(([, value]) => value !== null);
  return Object.fromEntries(set) as unknown as ChatHandlerOptions;
}

/** Where it is written: else every message of every chat would be refused. */
function checkChatStart(agent: string, start: unknown): void {
  if (start === undefined) return;
  if (!isRecord(start)) {
    throw invalid('start is no object', 'Write start: { budget, model, settings }.');
  }
  try {
    checkNames(start, START, LIMIT_PARTS);
    checkStart({ ...start, agent, task: 'any' });
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    throw invalid(`start: ${error.message.replace(/\.$/, '')}`, error.hint ?? '');
  }
}

function invalid(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The chat handler cannot start: ${what}.`, { hint });
}
