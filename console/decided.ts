/** What somebody decides at the desk, as its row of the audit trail says it before it is sent. */
import { decisionAbout } from '../client/decide/decide.js';
import type { AskDecision } from '../client/index.js';
import { decidedFacts as factsOf, saidFacts } from '../core/ask/decided-facts.js';
import { type DecidedFacts } from '../core/state/ask.js';
import { parseDecision } from '../core/messages/parse-message.js';
import type { AskRow } from '../store/asks.js';
import type { Desk } from './desk.js';

export function decidedFacts(
  { signer }: Pick<Desk, 'signer'>,
  ask: AskRow,
  wanted: AskDecision,
): DecidedFacts {
  const decision = decisionAbout(ask, wanted);
  // Of what the run will read. What it cannot read it refuses, and nothing is signed.
  const parsed = parseDecision(decision);
  if (!parsed.ok) return saidFacts(ask, decision);
  const { tenant, runId, kind, policyVersion } = ask;
  const place = { tenant, runId, kind, policyVersion };
  return factsOf(ask, signer?.signDecision(place, parsed.value) ?? parsed.value);
}
