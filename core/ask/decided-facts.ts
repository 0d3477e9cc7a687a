/**
 * What somebody decided, as events and the audit trail keep it.
 * Invariant: with the names of the question and the person it has every field of the statement that a desk signs (but
 * for the tail of a long reason, of which there is the digest): whoever has the desk's public key can prove it by itself.
 */
import { digestOf, type Json } from '../json/json.js';
import type { Decision, DecidedFacts } from '../state/ask.js';
import type { AskKind } from '../state/ask-kinds.js';
import { contentDigest } from './statement.js';

const REASON_CHARS_MAX = 500;
/** A row of the trail has a limit, and is not to lose all it says to one field. */
const GRANT_CHARS_MAX = 2_000;

interface Question {
  readonly kind: AskKind;
  readonly policyVersion: string;
}

/** Without what is signed. */
export function saidFacts({ kind, policyVersion }: Question, decision: Decision): DecidedFacts {
  const { argsHash, roles, decidedAt, nonce = '' } = decision;
  const { reason, args, tool, value, amount, grant } = decision;
  return {
    decision: decision.decision,
    question: kind,
    argsHash,
    policyVersion,
    roles,
    decidedAt,
    nonce,
    ...(reason !== undefined && { reason: reason.slice(0, REASON_CHARS_MAX) }),
    ...(args !== undefined && { args: digestOf(args) }),
    ...(tool !== undefined && { tool }),
    ...(value !== undefined && { value: digestOf(value) }),
    ...(amount !== undefined && { amount }),
    ...(grant !== undefined && { grant: shortened(grant as unknown as Json) }),
  };
}

/** Of a decision as `parseDecision` gives it. */
export function decidedFacts(question: Question, decision: Decision): DecidedFacts {
  const { kid, proof } = decision;
  return {
    ...saidFacts(question, decision),
    content: contentDigest(decision),
    ...(kid !== undefined && { kid }),
    ...(proof !== undefined && { proof }),
  };
}

function shortened(grant: Json): Json {
  return JSON.stringify(grant).length <= GRANT_CHARS_MAX ? grant : { digest: digestOf(grant) };
}
