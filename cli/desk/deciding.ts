/** Delivering what a person decides: over the desk, which signs it, or in local development straight to the run. */
import type { Decider, Delivery, HoldfastClient } from '../../client/index.js';
import type { AskKind, AskOutcome } from '../../core/state/ask-kinds.js';
import type { GrantRequest } from '../../core/state/grant.js';
import type { Elicitation } from '../../core/state/elicitation.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Json } from '../../core/json/json.js';
import type { OpenAsk } from '../../core/state/view.js';
import { controlsNow } from '../../console/controls-now.js';
import type { Freeze } from '../../pure/freeze.js';
import type { Session } from '../session.js';
import type { Named } from './actor.js';
import { TENANT } from './run-record.js';
import type { Answer, DeskApi } from './desk-api.js';
import { queryText } from './paging.js';

/** As the desk's API takes it. */
export type Wanted =
  | { readonly decision: 'approve'; readonly amount?: number; readonly grant?: GrantRequest }
  | { readonly decision: 'reject' | 'not_happened' | 'stop' }
  | { readonly decision: 'modify'; readonly args: Json }
  | { readonly decision: 'replace'; readonly tool: string; readonly args: Json }
  | { readonly decision: 'happened'; readonly value?: Json }
  /** The answer to a question of the agent. */
  | { readonly decision: 'answer'; readonly value: Json };

export interface Question {
  readonly askId: string;
  readonly runId: string;
  readonly kind: AskKind;
  readonly tool?: string;
  /** Of a budget: which one, and how much more is asked for. */
  readonly args?: Json;
  /** How many different people have to agree. */
  readonly quorum: number;
  /** The server of a tool asks. */
  readonly elicitation?: Elicitation;
}

export interface Deciding {
  /** While the store is away the run has to be named. Errors: AskNotFound, StoreUnavailable. */
  find(askId: string, runId?: string): Promise<Question>;
  /** Errors: DecisionRejected. */
  deliver(question: Question, wanted: Wanted, words: Words): Promise<Delivery>;
  /** A freeze that covers the call now; undefined: none, or nobody can say. */
  frozen(question: Question): Promise<Freeze | undefined>;
  /** How many have agreed so far; undefined: one is enough, or nobody can say. */
  agreed(question: Question): Promise<Agreed | undefined>;
}

export interface Agreed {
  readonly approved: number;
  readonly quorum: number;
}

/** A decision that was made does not wait long for what is told beside it. */
const VOTES_LIMIT_MS = 1_500;

export interface Words {
  readonly reason?: string;
  /** The same id again is the same decision. */
  readonly id?: string;
}

/** Local development: nobody is told apart, and nothing is signed. */
export function decidingDirectly(
  session: Pick<Session, 'wholeStore'>,
  client: HoldfastClient,
  named: Named,
): Deciding {
  let isStoreAway = false;
  return {
    async frozen({ askId }) {
      if (isStoreAway) return undefined;
      const store = await session.wholeStore().catch(() => undefined);
      const row = await store?.getAsk(TENANT, askId).catch(() => undefined);
      if (store === undefined || row === undefined) return undefined;
      const now = await controlsNow({ store, clock: Date.now }, row).catch(() => undefined);
      return now?.frozen;
    },
    async agreed({ askId, runId, quorum }) {
      const view = await client
        .handle(runId)
        .state(VOTES_LIMIT_MS)
        .catch(() => undefined);
      return agreedOf(quorum, view?.asks.find((ask) => ask.askId === askId)?.votes);
    },
    async find(askId, named) {
      const {
        runId,
        ask,
        storeAway = false,
      } = await client
        .findAsk(askId, named)
        .catch((error: unknown) =>
          refuseRunId(
            askId,
            error,
            async () => (await client.handle(askId).state(VOTES_LIMIT_MS)).asks,
          ),
        );
      isStoreAway = storeAway;
      return { runId, ...questionIn(ask) };
    },
    async deliver({ askId, runId }, wanted, { reason, id: nonce }) {
      const run = client.handle(runId);
      const decider: Decider = { ...named, ...(reason !== undefined && { reason }) };
      const once = nonce !== undefined && { nonce };
      if (wanted.decision === 'answer') {
        return run.answer(askId, { kind: 'text', value: wanted.value }, decider);
      }
      if (wanted.decision !== 'approve')
        return run.decideOn({ ...decider, ...once, askId, ...wanted });
      const { decision, ...allowing } = wanted;
      return run.decideOn({ ...decider, ...once, askId, decision, allowing });
    },
  };
}

const ASKS_NAMED_MAX = 5;

/** A run in the place of its question: its open questions are named. Throws `error`, or one that says more. */
async function refuseRunId(
  id: string,
  error: unknown,
  asksOf: () => Promise<readonly Pick<OpenAsk, 'askId' | 'kind'>[]>,
): Promise<never> {
  if (!isUnknown(error)) throw error;
  const open = await asksOf()
    .then((asks) => asks.filter(({ kind }) => kind !== 'user_message'))
    .catch(() => []);
  if (open.length === 0) throw error;
  const ids = open.slice(0, ASKS_NAMED_MAX).map(({ askId }) => askId);
  // A desk does not say what it has nothing of; here it is known.
  throw new HoldfastError('AskNotFound', `There is no question ${id}.`, {
    hint: `The run ${id} asks ${ids.join(', ')}: name one of them.`,
  });
}

function isUnknown(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.code === 'AskNotFound';
}

type Votes = OpenAsk['votes'];

function agreedOf(quorum: number, votes: Votes | undefined): Agreed | undefined {
  if (quorum < 2 || votes === undefined) return undefined;
  return { approved: votes.filter(({ decision }) => decision === 'approve').length, quorum };
}

function questionIn({
  askId,
  kind,
  tool,
  args,
  quorum,
  elicitation,
}: Omit<Question, 'runId'>): Omit<Question, 'runId'> {
  return {
    askId,
    kind,
    quorum,
    ...(tool !== undefined && { tool }),
    ...(args !== undefined && { args }),
    ...(elicitation !== undefined && { elicitation }),
  };
}

interface InboxItem {
  readonly votes?: Votes;
  readonly frozen?: Freeze;
}

export function decidingAtDesk(api: DeskApi): Deciding {
  const hashes = new Map<string, unknown>();
  /** An older desk takes no run. */
  const runs = new Map<string, string>();
  const look = async (path: string): Promise<Question> => {
    const ask = (await api.get(path)) as unknown as Question & { readonly argsHash: unknown };
    hashes.set(ask.askId, ask.argsHash);
    return { runId: ask.runId, ...questionIn(ask) };
  };
  const item = async ({ askId }: Question): Promise<InboxItem | undefined> =>
    api.get(`/v1/inbox/${encodeURIComponent(askId)}`).then(
      (found) => found as unknown as InboxItem,
      () => undefined,
    );
  return {
    frozen: async (question) => (await item(question))?.frozen,
    agreed: async (question) => agreedOf(question.quorum, (await item(question))?.votes),
    async find(askId, runId) {
      const id = encodeURIComponent(askId);
      const where = runId === undefined ? '' : `?${queryText({ runId })}`;
      if (runId !== undefined) runs.set(askId, runId);
      try {
        return await look(`/v1/approvals/${id}${where}`);
      } catch (error) {
        if (!isUnknown(error)) throw error;
        return look(`/v1/questions/${id}${where}`).catch((other: unknown) =>
          refuseRunId(askId, other, async () => {
            const { pending } = await api.get(`/v1/runs/${id}`);
            return pending as readonly OpenAsk[];
          }),
        );
      }
    },
    async deliver({ askId }, wanted, { reason, id: key }) {
      const id = encodeURIComponent(askId);
      const run = runs.has(askId) && { runId: runs.get(askId) };
      if (wanted.decision === 'answer') {
        const body = { value: wanted.value, ...run };
        return deliveryIn(await api.post(`/v1/questions/${id}/answers`, body, key));
      }
      const argsHash = hashes.get(askId);
      const body = { ...wanted, argsHash, ...run, ...(reason !== undefined && { reason }) };
      return deliveryIn(await api.post(`/v1/approvals/${id}/decisions`, body, key));
    },
  };
}

function deliveryIn({ state, outcome, waitsFor, storeAway }: Answer): Delivery {
  const waits = typeof waitsFor === 'string' && { waitsFor };
  if (state === 'sent') {
    return { delivered: 'signal', ...waits, ...(storeAway === true && { storeAway }) };
  }
  const verdict = { accepted: true, outcome: outcome as AskOutcome } as const;
  return { delivered: 'update', verdict, ...waits };
}
