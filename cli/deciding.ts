/** Delivering what a person decides: over the desk, which signs it, or in local development straight to the run. */
import type { Decider, Delivery, HoldfastClient } from '../client/index.js';
import type { AskKind, AskOutcome } from '../core/ask/ask.js';
import type { GrantRequest } from '../core/ask/grants.js';
import { HoldfastError } from '../core/errors.js';
import type { Json } from '../core/json.js';
import type { Named } from './actor.js';
import type { DeskApi } from './desk-api.js';

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
}

export interface Deciding {
  /** Errors: AskNotFound. */
  find(askId: string): Promise<Question>;
  /** Errors: DecisionRejected. */
  deliver(question: Question, wanted: Wanted, reason?: string): Promise<Delivery>;
}

/** Local development: nobody is told apart, and nothing is signed. */
export function decidingDirectly(client: HoldfastClient, named: Named): Deciding {
  return {
    async find(askId) {
      const { runId, ask } = await client.findAsk(askId);
      return { askId, runId, kind: ask.kind, ...(ask.tool !== undefined && { tool: ask.tool }) };
    },
    async deliver({ askId, runId }, wanted, reason) {
      const run = client.handle(runId);
      const decider: Decider = { ...named, ...(reason !== undefined && { reason }) };
      if (wanted.decision === 'answer') {
        return run.answer(askId, { kind: 'text', value: wanted.value }, decider);
      }
      if (wanted.decision !== 'approve') return run.decideOn({ ...decider, askId, ...wanted });
      const { decision, ...allowing } = wanted;
      return run.decideOn({ ...decider, askId, decision, allowing });
    },
  };
}

export function decidingAtDesk(api: DeskApi): Deciding {
  const hashes = new Map<string, unknown>();
  const look = async (path: string): Promise<Question> => {
    const ask = await api.get(path);
    const { askId, runId, kind, tool, argsHash } = ask as unknown as Question & {
      readonly argsHash: unknown;
    };
    hashes.set(askId, argsHash);
    return { askId, runId, kind, ...(tool !== undefined && { tool }) };
  };
  return {
    async find(askId) {
      const id = encodeURIComponent(askId);
      try {
        return await look(`/v1/approvals/${id}`);
      } catch (error) {
        if (!(error instanceof HoldfastError) || error.code !== 'AskNotFound') throw error;
        return look(`/v1/questions/${id}`);
      }
    },
    async deliver({ askId }, wanted, reason) {
      const id = encodeURIComponent(askId);
      if (wanted.decision === 'answer') {
        await api.post(`/v1/questions/${id}/answers`, { value: wanted.value });
        return { delivered: 'signal' };
      }
      const argsHash = hashes.get(askId);
      const body = { ...wanted, argsHash, ...(reason !== undefined && { reason }) };
      const answer = await api.post(`/v1/approvals/${id}/decisions`, body);
      const { state, outcome, waitsFor } = answer;
      const waits = typeof waitsFor === 'string' && { waitsFor };
      if (state === 'sent') return { delivered: 'signal', ...waits };
      return {
        delivered: 'update',
        verdict: { accepted: true, outcome: outcome as AskOutcome },
        ...waits,
      };
    },
  };
}
