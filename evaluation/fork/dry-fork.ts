/** What a dry fork tells. */
import type { Json } from '../../core/json/json.js';

export interface WouldExecute {
  readonly tool: string;
  readonly callId: string;
  readonly args: Json;
  readonly digest: string;
  /** A person would be asked first, by the policy. */
  readonly asks: boolean;
  /** The same was handed over in the recorded run: a live fork asks a person before it does it again. */
  readonly repeats?: { readonly step: number; readonly callId: string };
}

export interface DryRead {
  readonly tool: string;
  readonly callId: string;
  readonly from: 'configuration' | 'record' | 'not_recorded';
}

export interface DryFork {
  readonly runId: string;
  readonly step: number;
  readonly rules: number;
  readonly stopReason: string;
  readonly detail?: string;
  readonly answer?: string;
  /** What only a person can answer ended the fork. */
  readonly waitsFor?: { readonly kind: string; readonly tool?: string; readonly question?: string };
  readonly wouldExecute: readonly WouldExecute[];
  readonly reads: readonly DryRead[];
  /** Of the fork alone, and with what the parent had spent, in micro-USD. */
  readonly costMicroUsd: number;
  readonly totalCostMicroUsd: number;
  readonly turns: number;
  /** In words: what of the parent the fork plays without. */
  readonly leftOut: readonly string[];
}
