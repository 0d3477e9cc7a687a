/** Requests that count once, however often they are sent. */
import { digestOf, type Json } from '../../core/json/json.js';
import type { Answer, EndpointRequest } from './endpoint.js';
import { Problem, problemOf, problemResponse, type ProblemBody } from './problem.js';

const KEY = /^[\x21-\x7e]{8,200}$/;

export interface OpenRequest {
  readonly key: string;
  /** When it was first sent, ms since epoch. */
  readonly at: number;
  /** How often it was refused for now. */
  readonly refusals: number;
}

/** What is refused so may be taken another time. */
const FOR_NOW: ReadonlySet<string> = new Set([
  'busy',
  'unknown_ask',
  'unknown_key',
  'clock_ahead',
  'key_revoked',
  'key_untrusted',
  'not_found',
  'not_served',
]);

/** Errors: a Problem when the request has none. */
export function requestKey(header: EndpointRequest<unknown, unknown, unknown>['header']): string {
  const key = header('idempotency-key') ?? '';
  if (KEY.test(key)) return key;
  throw new Problem(400, {
    code: 'invalid',
    detail: 'The header Idempotency-Key must name the request: 8 to 200 visible characters.',
  });
}

export interface Work {
  readonly first: (request: OpenRequest) => Promise<Answer>;
  readonly recheck?: Recheck;
}

/** What has become of a request that was answered with yes, or not yet; undefined: the answer stands. */
export type Recheck = (key: string) => Promise<Problem | undefined>;

/**
 * Does the work for the first request of its key, and gives its answer to all others. What failed for now is
 * not kept: sent again it is tried again. A kept answer is corrected by `recheck`.
 */
export async function once(
  { desk, person, header }: EndpointRequest<unknown, unknown, unknown>,
  what: Json,
  work: ((request: OpenRequest) => Promise<Answer>) | Work,
): Promise<Answer> {
  const { first, recheck } = typeof work === 'function' ? { first: work } : work;
  const key = requestKey(header);
  const { tenant, id: by } = person;
  const digest = digestOf(what);
  const taken = await desk.store.takeRequest({ tenant, by, key, digest, at: desk.clock() });
  if (taken.kind === 'other') {
    throw new Problem(422, {
      code: 'key_reused',
      detail: 'The Idempotency-Key was used for another request.',
    });
  }
  const request = { tenant, by, key };
  if (taken.kind === 'answered') {
    const kept = taken.status === 200 || taken.status === 202;
    const failed = kept ? await recheck?.(key) : undefined;
    if (failed === undefined) return repeated(taken.status, taken.body);
    const { status } = failed;
    await desk.store.correctRequest(request, { status, body: await bodyOf(failed) });
    throw failed;
  }
  try {
    const { at, refusals } = taken;
    const answer = await first({ key, at, refusals });
    if ('stream' in answer) return answer;
    const { status, body } = answer;
    await desk.store.answerRequest(request, { status, body: JSON.stringify(body) });
    return answer;
  } catch (error) {
    const problem = problemOf(error, () => '');
    if (FOR_NOW.has(problem.facts.code)) {
      await desk.store.noteRefusal(request, taken.refusals + 1);
    } else if (problem.status < 500 && problem.status !== 429) {
      const body = await bodyOf(problem);
      await desk.store.answerRequest(request, { status: problem.status, body });
    }
    throw error;
  }
}

function bodyOf(problem: Problem): Promise<string> {
  return problemResponse(problem).text();
}

const REPLAYED = { 'idempotent-replayed': 'true' };

function repeated(status: number, body: string): Answer {
  const said = JSON.parse(body) as unknown;
  if (status === 200 || status === 202) return { status, body: said, headers: REPLAYED };
  const { type: _, title: __, status: refused, ...facts } = said as ProblemBody;
  throw new Problem(refused as Problem['status'], { ...facts, headers: REPLAYED });
}
