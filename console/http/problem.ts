/**
 * Errors as the API tells them (RFC 9457).
 * Invariants: nothing of the inside leaves: no stack, no address, no message of another system; what is missing
 * and what belongs to somebody else are the same answer.
 */
import type { Json } from '../../core/json/json.js';
import { HoldfastError, type ErrorCode } from '../../core/state/errors.js';

export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly errors?: readonly FieldFault[];
  /** With `already_decided`: the outcome, by whom, and when (ms since epoch). */
  readonly decided?: Json;
  /** Names the failure in the console's own log. */
  readonly reference?: string;
}

export type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503;

interface ProblemFacts {
  readonly code: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly errors?: readonly FieldFault[];
  readonly decided?: Json;
  readonly reference?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const TITLES: { readonly [status in ProblemStatus]: string } = {
  400: 'The request is not valid',
  401: 'Not logged in',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Another method belongs here',
  409: 'Not possible now',
  413: 'Too large',
  415: 'Unknown kind of content',
  422: 'The request contradicts an earlier one',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Not available now',
};

/** Thrown by routes; becomes the answer. */
export class Problem extends Error {
  readonly status: ProblemStatus;
  readonly facts: ProblemFacts;

  constructor(status: ProblemStatus, facts: ProblemFacts) {
    super(facts.detail ?? TITLES[status]);
    this.name = 'Problem';
    this.status = status;
    this.facts = facts;
  }
}

export function problemResponse({ status, facts }: Problem): Response {
  const { headers = {}, ...said } = facts;
  const body: ProblemBody = {
    type: `urn:holdfast:problem:${said.code}`,
    title: TITLES[status],
    status,
    ...said,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...headers,
    },
  });
}

/** The one answer to an id that is not there, for whatever reason. */
export function notFound(): Problem {
  return new Problem(404, { code: 'not_found', detail: 'There is nothing here for you.' });
}

export function notAllowed(detail: string): Problem {
  return new Problem(403, { code: 'forbidden', detail });
}

/** Whatever was thrown, as a problem. Unexpected failures keep their words to themselves. */
export function problemOf(error: unknown, reference: () => string): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof HoldfastError)) return unexpected(reference());
  // A client that is closed while its process ends: the next process answers.
  if (error.details?.closed === true) return UNAVAILABLE();
  const known = OF_CODE[error.code];
  return known === undefined ? unexpected(reference()) : known(error);
}

/** Why something failed, in one word, for the trail. */
export function reasonOf(error: unknown): string {
  if (error instanceof Problem) return error.facts.code;
  if (!(error instanceof HoldfastError)) return 'failed';
  const reason = error.details?.reason;
  return typeof reason === 'string' ? reason : error.code;
}

/** What was decided before, as the refusal of a decision tells it. */
export function decidedIn(error: unknown): Json | undefined {
  return error instanceof HoldfastError ? (error.details?.decided as Json | undefined) : undefined;
}

function unexpected(reference: string): Problem {
  return new Problem(500, {
    code: 'internal',
    detail: 'The request failed. The log of this console says more.',
    reference,
  });
}

const UNAVAILABLE = (): Problem =>
  new Problem(503, {
    code: 'unavailable',
    detail: 'A part of the system does not answer. Nothing is lost; try again in a moment.',
    headers: { 'retry-after': '5' },
  });

const STORE_AWAY = (): Problem =>
  new Problem(503, {
    code: 'store_away',
    detail: 'The store of the desk does not serve this request. Runs wait for their store.',
    hint: '`holdfast doctor` says why. Until the store is back a question is decided by naming its run as well (runId; --run at the terminal), and /v1/runs/RUN/waits says what a run waits for.',
    headers: { 'retry-after': '5' },
  });

const INVALID = ({ message, hint }: HoldfastError): Problem =>
  new Problem(400, { code: 'invalid', detail: message, ...(hint !== undefined && { hint }) });

const OF_CODE: { readonly [code in ErrorCode]?: (error: HoldfastError) => Problem } = {
  // What is not in the store is refused before: here Temporal has a run no more, or it has just ended.
  RunNotFound: ended,
  AskNotFound: notFound,
  SessionNotFound: notFound,
  DecisionRejected: rejected,
  MessageRefused: rejected,
  StalePlan: rejected,
  InvalidTask: INVALID,
  InvalidRequest: INVALID,
  StepNotFound: INVALID,
  UnknownModel: INVALID,
  ForkRefused: notForked,
  ModelKeyMissing: notForked,
  Overloaded: busy,
  HistoryMissing: missing,
  TranscriptMissing: missing,
  UnknownAgent: () =>
    new Problem(409, { code: 'not_served', detail: 'No worker serves the agent at this moment.' }),
  RunExists: () => new Problem(409, { code: 'id_taken', detail: 'The id is taken.' }),
  StoreUnavailable: STORE_AWAY,
  ServerUnavailable: UNAVAILABLE,
  NetworkTimeout: UNAVAILABLE,
};

/** What was recorded is not whole any more. */
function missing({ message, hint }: HoldfastError): Problem {
  return new Problem(409, {
    code: 'not_recorded',
    detail: message,
    ...(hint !== undefined && { hint }),
  });
}

function notForked({ message, hint }: HoldfastError): Problem {
  return new Problem(409, {
    code: 'not_forked',
    detail: message,
    ...(hint !== undefined && { hint }),
  });
}

function busy({ message }: HoldfastError): Problem {
  return new Problem(429, {
    code: 'too_many',
    detail: message,
    headers: { 'retry-after': '5' },
  });
}

function ended(): Problem {
  return new Problem(409, { code: 'run_ended', detail: 'The run has ended.' });
}

const FORBIDDEN: ReadonlySet<unknown> = new Set(['role_missing', 'own_request']);

function rejected(error: HoldfastError): Problem {
  const { message, hint, details } = error;
  const decided = decidedIn(error);
  const reason = typeof details?.reason === 'string' ? details.reason : 'not_applicable';
  return new Problem(FORBIDDEN.has(reason) ? 403 : 409, {
    code: reason,
    detail: message,
    ...(hint !== undefined && { hint }),
    ...(decided !== undefined && { decided }),
  });
}
