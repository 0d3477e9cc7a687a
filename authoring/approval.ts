/**
 * Who must agree to a call, as authors write it and as it is frozen.
 * Invariant: an effect that cannot be taken back is never free of approval by default.
 */
import { HoldfastError } from '../core/state/errors.js';
import {
  sideEffectOf,
  type AnswerRule,
  type ApprovalRule,
  type EscalationRule,
  type ToolEffect,
  type ToolKind,
  type ToolRecord,
} from '../core/state/tool.js';
import { partDefect, shown, type KnownFields } from './known-fields.js';
import { isRecord } from '../pure/options.js';

const ROLES_MAX = 20;
const ROLE_CHARS_MAX = 100;
const QUORUM_MAX = 20;
const EXPIRY_MS_MAX = 366 * 86_400_000;

/** An object means that somebody must always agree. */
export type ApprovalDeclaration = 'never' | 'by_policy' | 'always' | Partial<ApprovalRule>;

const ANYONE: ApprovalRule = { roles: [], quorum: 1 };

const RULE: KnownFields<ApprovalRule> = {
  roles: true,
  quorum: true,
  expiresInMs: true,
  onExpiry: true,
  escalate: true,
};
const ESCALATION: KnownFields<EscalationRule> = { afterMs: true, roles: true };
const ANSWERERS: KnownFields<Extract<AnswerRule, object>> = { roles: true };

/** The rule in its frozen form; throws InvalidTool for one that nobody could ever satisfy. */
export function approvalOf(
  tool: string,
  effect: ToolEffect,
  declared: ApprovalDeclaration | undefined,
): ToolRecord['approval'] {
  if (declared === undefined) return defaultApproval(effect);
  if (declared === 'never' || declared === 'by_policy') return declared;
  if (declared !== 'always' && !isRecord(declared)) {
    throw wrong(tool, `approval is ${shown(declared)}`, APPROVAL_HINT);
  }
  if (sideEffectOf(effect) !== 'mutating') {
    throw wrong(
      tool,
      `it asks for approval, but its effect is "${effect}"`,
      'Drop the approval, or declare the effect that people should agree to.',
    );
  }
  return declared === 'always' ? ANYONE : checkedRule(tool, declared);
}

function defaultApproval(effect: ToolEffect): ToolRecord['approval'] {
  switch (effect) {
    case 'none':
    case 'read':
      return 'never';
    case 'write':
    case 'execute':
      return 'by_policy';
    case 'financial':
    case 'send':
    case 'delete':
    case 'permission':
    case 'commit':
    case 'unknown':
      return ANYONE;
  }
}

function checkedRule(tool: string, rule: Partial<ApprovalRule>): ApprovalRule {
  const defect = partDefect('approval', rule, RULE);
  if (defect !== undefined) throw wrong(tool, defect.what, defect.hint);
  const { roles, quorum = 1, expiresInMs, onExpiry, escalate } = rule;
  if (roles !== undefined) checkRoles(tool, roles, 'approval');
  if (!Number.isInteger(quorum) || quorum < 1 || quorum > QUORUM_MAX) {
    throw wrong(tool, `its approval quorum is ${shown(quorum)}`, 'Ask for 1 person or more.');
  }
  if (
    expiresInMs !== undefined &&
    !(Number.isInteger(expiresInMs) && expiresInMs > 0 && expiresInMs <= EXPIRY_MS_MAX)
  ) {
    const hint = 'Give a positive number of milliseconds, for example hours(24).';
    throw wrong(tool, `its approval expires in ${String(expiresInMs)} ms`, hint);
  }
  if (onExpiry !== undefined && onExpiry !== 'reject' && onExpiry !== 'stop') {
    throw wrong(tool, `onExpiry is ${shown(onExpiry)}`, "Use 'reject' or 'stop'.");
  }
  if (escalate !== undefined) checkEscalation(tool, rule, escalate);
  return {
    roles: roles ?? [],
    quorum,
    ...(expiresInMs !== undefined && { expiresInMs }),
    ...(onExpiry !== undefined && { onExpiry }),
    ...(escalate !== undefined && {
      escalate: { afterMs: escalate.afterMs, roles: [...escalate.roles] },
    }),
  };
}

/** An escalation that could never happen, or that would let nobody in, is a mistake. */
function checkEscalation(
  tool: string,
  { roles, expiresInMs = EXPIRY_MS_MAX }: Partial<ApprovalRule>,
  escalate: unknown,
): void {
  const defect = partDefect('approval.escalate', escalate, ESCALATION);
  if (defect !== undefined) throw wrong(tool, defect.what, defect.hint);
  const { afterMs, roles: others } = escalate as Partial<EscalationRule>;
  if (!Array.isArray(others)) {
    const hint = 'Use escalate: {afterMs: hours(4), roles: [...]}.';
    throw wrong(tool, 'its escalation names no roles', hint);
  }
  checkRoles(tool, others, 'escalation');
  if (!Number.isInteger(afterMs) || (afterMs ?? 0) <= 0 || (afterMs ?? 0) >= expiresInMs) {
    const hint = 'Give milliseconds below those after which the question expires.';
    throw wrong(tool, `its approval escalates after ${String(afterMs)} ms`, hint);
  }
  if (roles === undefined) {
    const hint = 'Name the roles that may approve from the start.';
    throw wrong(tool, 'anyone may approve it already, so there is nobody to escalate to', hint);
  }
}

/** Whose answers to a question count, as it is frozen. */
export function answerRuleOf(
  tool: string,
  kind: ToolKind,
  declared: AnswerRule | undefined,
): AnswerRule | undefined {
  if (declared === undefined) return undefined;
  if (kind !== 'human_input') {
    const hint = "Drop answeredBy, or declare kind: 'human_input'.";
    throw wrong(tool, 'it says who answers, but asks nobody', hint);
  }
  if (declared === 'customer' || declared === 'staff') return declared;
  if (!isRecord(declared)) {
    const hint = "Use 'customer', 'staff' or {roles: [...]}.";
    throw wrong(tool, `answeredBy is ${shown(declared)}`, hint);
  }
  const defect = partDefect('answeredBy', declared, ANSWERERS);
  if (defect !== undefined) throw wrong(tool, defect.what, defect.hint);
  checkRoles(tool, declared.roles, 'answeredBy');
  return { roles: [...declared.roles] };
}

function checkRoles(tool: string, roles: readonly unknown[], what: string): void {
  if (!Array.isArray(roles)) {
    const hint = "Write a list of texts: roles: ['lead'].";
    throw wrong(tool, `the roles of its ${what} are ${shown(roles)}`, hint);
  }
  if (roles.length === 0 || roles.length > ROLES_MAX) {
    const hint = 'Name the roles that may, or leave `roles` out when anyone may.';
    throw wrong(tool, `its ${what} names no role`, hint);
  }
  const bad = roles.find(
    (role) => typeof role !== 'string' || role.trim() === '' || role.length > ROLE_CHARS_MAX,
  );
  if (bad !== undefined) {
    throw wrong(tool, `${shown(bad)} is not a role`, 'A role is a short, non-blank text.');
  }
}

const APPROVAL_HINT =
  "Use 'never', 'by_policy', 'always' or {roles, quorum, expiresInMs, escalate}, whichever fits the risk.";

function wrong(tool: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidTool', `Tool ${tool}: ${what}.`, { hint });
}
