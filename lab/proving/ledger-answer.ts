/** The person who is asked what became of a call: they look into the tool service's own ledger. */
import { z } from 'zod';
import type { Answer } from '../../client/index.js';
import { serviceJson } from './service-json.js';

export interface ParkedCall {
  readonly runId: string;
  readonly callId: string;
  /** The call's key, which the service writes down even where it ignores it. */
  readonly key: string | undefined;
}

export interface LedgerAnswer {
  readonly callId: string;
  readonly answer: Extract<Answer, { readonly kind: 'happened' | 'not_happened' }>;
}

const ledgerSchema = z.object({
  rows: z.array(z.object({ key: z.string().nullable(), result: z.string() })),
});

/** A call without a row changed nothing: it never arrived, or it was refused. */
export async function answerFromLedger(
  serviceUrl: string,
  { runId, callId, key }: ParkedCall,
): Promise<LedgerAnswer> {
  const { rows } = ledgerSchema.parse(await serviceJson(`${serviceUrl}/ledger`, runId));
  const row = rows.find((entry) => entry.key !== null && entry.key === key);
  if (row === undefined) return { callId, answer: { kind: 'not_happened' } };
  return { callId, answer: { kind: 'happened', value: row.result } };
}
