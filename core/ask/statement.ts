/**
 * What the desk signs when a person decides: one text that names the person, the decision and
 * the exact action, for one question of one run of one tenant; and when a person says something to a goal: one text
 * that names the person and every word of it, for one goal of one tenant.
 *
 * Invariants:
 *  Y1 The text is canonical JSON of named fields: no order of keys and no delimiter in a value can make two
 *     statements the same text.
 *  Y2 Whatever a decision can carry is in it: what is not named here is under `content`.
 */
import { canonicalJson, digestOf, type Json } from '../json/json.js';
import type { Decision } from '../state/ask.js';
import type { GoalMessage } from '../state/goal/message.js';
import type { GoalStatement, Statement } from '../state/statement.js';

/** What the run knows of the question; the rest of a statement is the decision's. */
export type StatementPlace = Pick<Statement, 'tenant' | 'runId' | 'kind' | 'policyVersion'>;

/** Of a decision as `parseDecision` gives it; undefined when it names no key or itself by no nonce. */
export function statementOf(place: StatementPlace, decision: Decision): Statement | undefined {
  const { kid, nonce, askId, argsHash, by, roles, decidedAt } = decision;
  if (kid === undefined || nonce === undefined) return undefined;
  const { tenant, runId, kind, policyVersion } = place;
  return {
    v: 1,
    kid,
    tenant,
    runId,
    askId,
    kind,
    argsHash,
    policyVersion,
    decision: decision.decision,
    content: contentDigest(decision),
    by,
    roles,
    decidedAt,
    nonce,
  };
}

/** The text under the signature. */
export function statementText(statement: Statement): string {
  return canonicalJson({ purpose: 'holdfast.decision', ...statement });
}

/** Of everything that a decision brings along; of nothing it is the digest of nothing. */
export function contentDigest(decision: Decision): string {
  const { args, tool, value, amount, grant, reason, interrupt } = decision;
  return digestOf({
    ...(args !== undefined && { args }),
    ...(tool !== undefined && { tool }),
    ...(value !== undefined && { value }),
    ...(amount !== undefined && { amount }),
    ...(grant !== undefined && { grant: grant as unknown as Json }),
    ...(reason !== undefined && { reason }),
    ...(interrupt && { interrupt }),
  });
}

/** What the goal knows of itself; the rest of a statement is the message's. */
export type GoalIdentity = Pick<GoalStatement, 'tenant' | 'goalId'>;

/** Of a message as the goal parses it; undefined when it names no key. */
export function goalStatementOf(
  { tenant, goalId }: GoalIdentity,
  message: GoalMessage,
): GoalStatement | undefined {
  const { v: _v, kid, proof: _proof, id: messageId, type, by, roles, at, ...content } = message;
  if (kid === undefined) return undefined;
  return {
    v: 1,
    kind: 'goal_message',
    kid,
    tenant,
    goalId,
    messageId,
    type,
    content: digestOf(content as unknown as Json),
    by,
    roles,
    at,
  };
}

/** The text under the signature of what is said to a goal; no decision's text is the same. */
export function goalStatementText(statement: GoalStatement): string {
  return canonicalJson({ purpose: 'holdfast.goal_message', ...statement });
}
