/**
 * What somebody decided, as the audit trail keeps it.
 * Invariant: with the columns of its row it has every field of the statement that the desk signs (but for the
 * tail of a long reason, of which there is the digest), and the signature: whoever has the desk's public key
 * can prove the row by itself.
 */
import { decisionAbout } from '../client/decide.js';
import type { AskDecision } from '../client/index.js';
import { contentDigest } from '../core/ask/statement.js';
import type { Decision } from '../core/ask/ask.js';
import { digestOf } from '../core/digest.js';
import type { Json } from '../core/json.js';
import { parseDecision } from '../core/parse-message.js';
import type { AskRow } from '../store/asks.js';
import type { Desk } from './desk.js';

const REASON_CHARS_MAX = 500;
/** A row has a limit, and is not to lose all it says to one field. */
const GRANT_CHARS_MAX = 2_000;

type Facts = { readonly [name: string]: Json };

export function decidedFacts(desk: Pick<Desk, 'signer'>, ask: AskRow, wanted: AskDecision): Facts {
  const decision = decisionAbout(ask, wanted);
  const { argsHash, roles, decidedAt, nonce = '' } = decision;
  return {
    decision: decision.decision,
    question: ask.kind,
    argsHash,
    policyVersion: ask.policyVersion,
    roles,
    decidedAt,
    nonce,
    ...broughtAlong(decision),
    ...signatureOf(desk, ask, decision),
  };
}

function broughtAlong({ reason, args, tool, value, amount, grant }: Decision): Facts {
  return {
    ...(reason !== undefined && { reason: reason.slice(0, REASON_CHARS_MAX) }),
    ...(args !== undefined && { args: digestOf(args) }),
    ...(tool !== undefined && { tool }),
    ...(value !== undefined && { value: digestOf(value) }),
    ...(amount !== undefined && { amount }),
    ...(grant !== undefined && { grant: shortened(grant as unknown as Json) }),
  };
}

function shortened(grant: Json): Json {
  return JSON.stringify(grant).length <= GRANT_CHARS_MAX ? grant : { digest: digestOf(grant) };
}

/** Of what the run will read. What it cannot read it refuses, and nothing is signed. */
function signatureOf({ signer }: Pick<Desk, 'signer'>, ask: AskRow, decision: Decision): Facts {
  const parsed = parseDecision(decision);
  if (!parsed.ok) return {};
  const content = contentDigest(parsed.value);
  if (signer === undefined) return { content };
  const { tenant, runId, kind, policyVersion } = ask;
  const place = { tenant, runId, kind, policyVersion };
  const { proof = '' } = signer.signDecision(place, parsed.value);
  return { content, kid: signer.key.kid, proof };
}
