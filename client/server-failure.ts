/** Errors of the SDK and of the server, as HoldfastErrors that say what to do next. */
import {
  isGrpcServiceError,
  NamespaceNotFoundError,
  QueryNotRegisteredError,
  QueryRejectedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import { accessRefused, connectionFailure, type Credentials } from '../connection/index.js';
import { HoldfastError, isErrorCode, type ErrorCode } from '../core/state/errors.js';

export interface FailurePlace extends Credentials {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly runId?: string;
  readonly needsWorker?: boolean;
  readonly limitMs?: number;
  /** Whether the client of the call has been closed. */
  readonly isClosed?: () => boolean;
  /** It was closed meanwhile: what was called may have been done. */
  readonly isUnderWay?: boolean;
}

const REASON_CHARS_MAX = 500;
/** Numbers of gRPC's status codes that mean something to us. */
const GRPC = {
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  failedPrecondition: 9,
  cancelled: 1,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export const START_A_WORKER = 'Start a worker with `holdfast worker` (or `holdfast dev`).';

const UNREGISTERED = ({ runId = '' }: FailurePlace): string =>
  `Workflow ${runId} is not an agent run, or a worker was asked that is older than the run.`;

export function serverFailure(error: unknown, place: FailurePlace): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (error instanceof WorkflowFailedError) return runFailure(error, place.runId ?? 'unknown');
  if (error instanceof NamespaceNotFoundError) return noNamespace(place, error);
  if (error instanceof WorkflowNotFoundError) return notFound(error, place);
  if (error instanceof QueryNotRegisteredError) {
    return new HoldfastError('RunNotFound', UNREGISTERED(place), {
      hint: 'List the runs with `holdfast list`; `holdfast doctor` names the runs that wait for a worker as new as they are.',
      cause: error,
    });
  }
  if (place.isClosed?.() === true) return closedClient(place, error);
  if (error instanceof QueryRejectedError) return internal(error);
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return silent(place, error);
  const status = grpcStatusOf(error);
  return status === undefined ? internal(error) : ofStatus(status, place);
}

/** Why no connection came about: what the server said, else what knocking at its door shows. */
export async function connectFailure(error: unknown, place: FailurePlace): Promise<HoldfastError> {
  const status = grpcStatusOf(error);
  const isSilence =
    status === undefined || (status.code === GRPC.unavailable && !isOfServer(status));
  return isSilence ? connectionFailure(place, error) : ofStatus(status, place);
}

/** The server could not be reached. */
export function isUnreachable(error: unknown): boolean {
  return grpcStatusOf(error)?.code === GRPC.unavailable;
}

/** The call's own time was over before the server had an answer. */
export function isPassedDeadline(error: unknown): boolean {
  return grpcStatusOf(error)?.code === GRPC.deadlineExceeded;
}

/** The call was ended on its way, by us or, under hundreds of calls at once, by the transport. */
export function isCancelled(error: unknown): boolean {
  return grpcStatusOf(error)?.code === GRPC.cancelled;
}

interface GrpcStatus {
  readonly code: number;
  readonly details: string;
  readonly error: unknown;
}

/** The gRPC status of an error, which the SDK may have wrapped. */
function grpcStatusOf(error: unknown): GrpcStatus | undefined {
  const causes = [error, (error as { cause?: unknown } | undefined)?.cause];
  const found = causes.find(isGrpcServiceError);
  return found && { code: found.code, details: found.details, error };
}

function ofStatus(status: GrpcStatus, place: FailurePlace): HoldfastError {
  const cause = status.error;
  switch (status.code) {
    case GRPC.notFound:
      return noNamespace(place, cause);
    case GRPC.deadlineExceeded:
      if (place.needsWorker) return silent(place, cause);
      return UNRESOLVED.test(status.details) ? noAnswer(place, cause) : overdue(place, cause);
    case GRPC.unavailable:
      return isOfServer(status) ? unable(place, status) : noAnswer(place, cause);
    case GRPC.failedPrecondition:
      if (place.needsWorker) return silent(place, cause, status.details);
      return refused(place, status);
    case GRPC.permissionDenied:
    case GRPC.unauthenticated:
      return accessRefused(place, { code: status.code, words: status.details, cause });
    default:
      return refused(place, status);
  }
}

function refused(place: FailurePlace, status: GrpcStatus): HoldfastError {
  return new HoldfastError(
    'Internal',
    `The server at ${place.address} refused the call: ${brief(status.details)}`,
    { hint: 'Run `holdfast doctor`.', details: { grpc: status.code }, cause: status.error },
  );
}

const UNRESOLVED = /name resolution/;
/** What the transport says by itself of a server that it does not reach. */
const OF_TRANSPORT =
  /^$|No connection|Connection dropped|Failed to connect|Name resolution|RST_STREAM|Stream refused|ECONN|EPIPE|socket|[Tt]ransport|[Cc]hannel|upstream|goaway/i;

function isOfServer({ details }: GrpcStatus): boolean {
  return !OF_TRANSPORT.test(details);
}

function unable({ address }: FailurePlace, { details, error }: GrpcStatus): HoldfastError {
  return new HoldfastError(
    'ServerUnavailable',
    `The Temporal server at ${address} runs, and cannot do this now: ${brief(details)}`,
    { hint: OF_SERVER, details: { address }, cause: error },
  );
}

function overdue({ address }: FailurePlace, cause: unknown): HoldfastError {
  return new HoldfastError(
    'ServerUnavailable',
    `The Temporal server at ${address} gave no answer in time.`,
    {
      hint: `${OF_SERVER} What was said may come later all the same: look before it is said again.`,
      details: { address },
      cause,
    },
  );
}

const OF_SERVER = 'Look whether the server runs, at its log, its database and its disk.';

function noAnswer({ address }: FailurePlace, cause: unknown): HoldfastError {
  return new HoldfastError('ServerUnavailable', `No Temporal server answers at ${address}.`, {
    hint: 'Start one with `holdfast dev` or `holdfast server`, or set HOLDFAST_ADDRESS to yours.',
    details: { address },
    cause,
  });
}

function noNamespace({ address, namespace }: FailurePlace, cause: unknown): HoldfastError {
  return new HoldfastError(
    'ServerUnavailable',
    `The server at ${address} has no namespace ${namespace}.`,
    {
      hint: `Create it (temporal operator namespace create -n ${namespace} --retention 720h), or set HOLDFAST_NAMESPACE.`,
      details: { address, namespace },
      cause,
    },
  );
}

/** Nothing but a worker can give the answer, and none did. */
function silent(place: FailurePlace, cause: unknown, details?: string): HoldfastError {
  const { runId, taskQueue, limitMs } = place;
  const why =
    details === undefined
      ? `no worker answered within ${Math.round((limitMs ?? 0) / 1000)} s`
      : brief(details);
  return new HoldfastError(
    'ServerUnavailable',
    `Run ${runId ?? ''} cannot answer now: ${why} (task queue ${taskQueue}).`,
    {
      hint: `${START_A_WORKER} If one is running, \`holdfast doctor\` shows what holds the run up.`,
      details: { ...(runId !== undefined && { runId }), taskQueue, worker: false },
      cause,
    },
  );
}

function notFound(error: WorkflowNotFoundError, { runId }: FailurePlace): HoldfastError {
  const id = runId ?? error.workflowId;
  return /already completed/i.test(error.message) ? ended(id) : unknownRun(id);
}

function unknownRun(runId: string): HoldfastError {
  return new HoldfastError('RunNotFound', `There is no run ${runId}.`, {
    hint: 'List the runs with `holdfast list`.',
    details: { runId },
  });
}

function ended(runId: string): HoldfastError {
  return new HoldfastError('RunNotFound', `Run ${runId} has ended and takes no more messages.`, {
    hint: `See how it ended with \`holdfast show ${runId}\`.`,
    details: { runId, ended: true },
  });
}

const HINTS: { readonly [code in ErrorCode]?: string } = {
  InvalidTask: 'Correct the task and start again with a new run id.',
  UnknownAgent: 'Name an agent of your configuration, or add it and restart the worker.',
  UnknownModel: 'Name a model with known prices, or add a route to your configuration.',
  ModelKeyMissing: 'Set ANTHROPIC_API_KEY for the worker.',
};

/** A run whose workflow failed: it was never opened, or something outside Holdfast ended it. */
function runFailure(error: WorkflowFailedError, runId: string): HoldfastError {
  const { cause } = error;
  if (cause instanceof ApplicationFailure) {
    const code = isErrorCode(cause.type) ? cause.type : 'Internal';
    const hint = HINTS[code];
    return new HoldfastError(code, brief(cause.message), {
      ...(hint !== undefined && { hint }),
      details: { runId },
      cause: error,
    });
  }
  const how =
    cause instanceof TerminatedFailure
      ? 'was terminated in Temporal'
      : cause instanceof TimeoutFailure
        ? 'ran into a timeout of its workflow'
        : 'was cancelled';
  return new HoldfastError('Aborted', `Run ${runId} ${how} and has no result.`, {
    hint: `See what it did with \`holdfast show ${runId}\`.`,
    details: { runId },
    cause: error,
  });
}

/** No outage: nobody is to wait for it. */
function closedClient({ runId, isUnderWay }: FailurePlace, cause: unknown): HoldfastError {
  const message = 'The client has been closed.';
  const details = { closed: true, ...(runId !== undefined && { runId }) };
  if (isUnderWay !== true) {
    const hint = 'Connect again before using it.';
    return new HoldfastError('Usage', message, { hint, details, cause });
  }
  const where = runId === undefined ? '' : ` at run ${runId}`;
  return new HoldfastError('Usage', `${message} What was under way may have been done.`, {
    hint: `Connect again, and look${where} before it is said again.`,
    details,
    cause,
  });
}

function internal(error: unknown): HoldfastError {
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError('Internal', brief(message), { cause: error });
}

function brief(text: string): string {
  return text.length > REASON_CHARS_MAX ? `${text.slice(0, REASON_CHARS_MAX)}…` : text;
}
