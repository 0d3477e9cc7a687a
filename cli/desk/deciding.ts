/** Delivering what a person decides: over the desk, which signs it, or in local development straight to the run. */
import type { Decider, Delivery, HoldfastClient } from '../../client/index.js';
import type { AskKind, AskOutcome } from '../../core/state/ask-kinds.js';
import type { GrantRequest } from '../../core/state/grant.js';
import type { Elicitation } from '../../core/state/elicitation.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Json } from '../../core/json/json.js';
import type { Named } from './actor.js';
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
  /** The server of a tool asks. */
  readonly elicitation?: Elicitation;
}

export interface Deciding {
  /** While the store is away the run has to be named. Errors: AskNotFound, StoreUnavailable. */
  find(askId: string, runId?: string): Promise<Question>;
  /** Errors: DecisionRejected. */
  deliver(question: Question, wanted: Wanted, words: Words): Promise<Delivery>;
}

export interface Words {
  readonly reason?: string;
  /** The same id again is the same decision. */
  readonly id?: string;
}

/** Local development: nobody is told apart, and nothing is signed. */
export function decidingDirectly(client: HoldfastClient, named: Named): Deciding {
  return {
    async find(askId, named) {
      const { runId, ask } = await client.findAsk(askId, named);
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

function questionIn({
  askId,
  kind,
  tool,
  elicitation,
}: Omit<Question, 'runId'>): Omit<Question, 'runId'> {
  return {
    askId,
    kind,
    ...(tool !== undefined && { tool }),
    ...(elicitation !== undefined && { elicitation }),
  };
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
  return {
    async find(askId, runId) {
      const id = encodeURIComponent(askId);
      const where = runId === undefined ? '' : `?${queryText({ runId })}`;
      if (runId !== undefined) runs.set(askId, runId);
      try {
        return await look(`/v1/approvals/${id}${where}`);
      } catch (error) {
        if (!(error instanceof HoldfastError) || error.code !== 'AskNotFound') throw error;
        return look(`/v1/questions/${id}${where}`);
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
