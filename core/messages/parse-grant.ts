/**
 * Parses the standing grant that an approval may carry (G13).
 * Invariant: it names one tool, at least one condition, an end in uses and in time.
 */
import { GRANT_CONDITIONS_MAX, GRANT_USES_MAX, type GrantRequest } from '../state/grant.js';
import { ownValue, type Json } from '../json/json.js';
import { isPositiveUpTo, isRecord, isSmallJson, isText, type Parsed } from '../json/shape.js';
import type { PolicyCondition } from '../state/policy.js';

const NAME_CHARS_MAX = 128;
const EQUALS_CHARS_MAX = 1_024;
const EXPIRY_MS_MAX = 366 * 86_400_000;

export function parseGrant(raw: unknown): Parsed<GrantRequest> {
  if (!isRecord(raw)) return no('must be an object');
  const matcher = ownValue(raw, 'matcher');
  const uses = ownValue(raw, 'uses');
  const expiresInMs = ownValue(raw, 'expiresInMs');
  if (!isRecord(matcher)) return no('needs a matcher');
  const tool = ownValue(matcher, 'tool');
  if (!isText(tool, NAME_CHARS_MAX)) return no('matcher must name a tool');
  const when = conditionsOf(ownValue(matcher, 'when'));
  if (when === undefined)
    return no(`matcher.when must have 1 to ${GRANT_CONDITIONS_MAX} conditions`);
  if (!isPositiveUpTo(uses, GRANT_USES_MAX)) return no(`uses must be 1 to ${GRANT_USES_MAX}`);
  if (!isPositiveUpTo(expiresInMs, EXPIRY_MS_MAX))
    return no('expiresInMs must be ms, up to a year');
  return { ok: true, value: { matcher: { tool, when }, uses, expiresInMs } };
}

function conditionsOf(raw: unknown): readonly PolicyCondition[] | undefined {
  if (!Array.isArray(raw) || raw.length === 0 || raw.length > GRANT_CONDITIONS_MAX)
    return undefined;
  const conditions = raw.map(conditionOf);
  return conditions.every((one) => one !== undefined) ? conditions : undefined;
}

function conditionOf(raw: unknown): PolicyCondition | undefined {
  if (!isRecord(raw)) return undefined;
  const path = ownValue(raw, 'path');
  const equals = ownValue(raw, 'equals');
  const lte = ownValue(raw, 'lte');
  const gte = ownValue(raw, 'gte');
  const exists = ownValue(raw, 'exists');
  if (!isText(path, NAME_CHARS_MAX)) return undefined;
  if ([equals, lte, gte, exists].every((one) => one === undefined)) return undefined;
  if (equals !== undefined && !isSmallJson(equals, EQUALS_CHARS_MAX)) return undefined;
  if (lte !== undefined && !isFinite(lte)) return undefined;
  if (gte !== undefined && !isFinite(gte)) return undefined;
  if (exists !== undefined && typeof exists !== 'boolean') return undefined;
  return {
    path,
    ...(equals !== undefined && { equals: equals as Json }),
    ...(lte !== undefined && { lte }),
    ...(gte !== undefined && { gte }),
    ...(exists !== undefined && { exists }),
  };
}

function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}

function no(what: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason: `grant ${what}` };
}
