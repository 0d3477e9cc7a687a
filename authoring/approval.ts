/**
 * Who must agree to a call, as authors write it and as it is frozen (vocabulary D5).
 * Invariant: an effect that cannot be taken back is never free of approval by default.
 */
import { HoldfastError } from '../core/errors.js';
import { sideEffectOf, type ApprovalRule, type ToolEffect, type ToolRecord } from '../core/tool.js';

const ROLES_MAX = 20;
const ROLE_CHARS_MAX = 100;
const QUORUM_MAX = 20;
const EXPIRY_MS_MAX = 366 * 86_400_000;

/** An object means that somebody must always agree. */
export type ApprovalDeclaration = 'never' | 'by_policy' | 'always' | Partial<ApprovalRule>;

const ANYONE: ApprovalRule = { roles: [], quorum: 1 };

/** The rule in its frozen form; throws InvalidTool for one that nobody could ever satisfy. */
export function approvalOf(
  tool: string,
  effect: ToolEffect,
  declared: ApprovalDeclaration | undefined,
): ToolRecord['approval'] {
  if (declared === undefined) return defaultApproval(effect);
  if (declared === 'never' || declared === 'by_policy') return declared;
  if (declared !== 'always' && (typeof declared !== 'object' || declared === null)) {
    throw wrong(tool, `approval is ${JSON.stringify(declared)}`, APPROVAL_HINT);
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
  const { roles, quorum = 1, expiresInMs, onExpiry } = rule;
  if (roles !== undefined) checkRoles(tool, roles);
  if (!Number.isInteger(quorum) || quorum < 1 || quorum > QUORUM_MAX) {
    throw wrong(tool, `its approval quorum is ${String(quorum)}`, 'Ask for 1 person or more.');
  }
  if (
    expiresInMs !== undefined &&
    !(Number.isInteger(expiresInMs) && expiresInMs > 0 && expiresInMs <= EXPIRY_MS_MAX)
  ) {
    const hint = 'Give a positive number of milliseconds, for example hours(24).';
    throw wrong(tool, `its approval expires in ${String(expiresInMs)} ms`, hint);
  }
  if (onExpiry !== undefined && onExpiry !== 'reject' && onExpiry !== 'stop') {
    throw wrong(tool, `onExpiry is ${JSON.stringify(onExpiry)}`, "Use 'reject' or 'stop'.");
  }
  return {
    roles: roles ?? [],
    quorum,
    ...(expiresInMs !== undefined && { expiresInMs }),
    ...(onExpiry !== undefined && { onExpiry }),
  };
}

function checkRoles(tool: string, roles: readonly unknown[]): void {
  if (!Array.isArray(roles) || roles.length === 0 || roles.length > ROLES_MAX) {
    const hint = 'Name the roles that may approve, or leave `roles` out when anyone may.';
    throw wrong(tool, 'its approval names no role', hint);
  }
  const bad = roles.find(
    (role) => typeof role !== 'string' || role.trim() === '' || role.length > ROLE_CHARS_MAX,
  );
  if (bad !== undefined) {
    throw wrong(tool, `${JSON.stringify(bad)} is not a role`, 'A role is a short, non-blank text.');
  }
}

const APPROVAL_HINT =
  "Use 'never', 'by_policy', 'always' or {roles, quorum, expiresInMs}, whichever fits the risk.";

function wrong(tool: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidTool', `Tool ${tool}: ${what}.`, { hint });
}
