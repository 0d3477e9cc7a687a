/** How a tool of a server differs from what was approved of it, field by field, as bounded texts. */
import { canonicalJson, type Json } from '../core/json/json.js';
import type { SurveyedTool } from './survey.js';

/** Above the most that a tool of a server may say in one field (definition.ts): a person approves what is shown. */
const TEXT_CHARS_MAX = 64 * 1024;

export interface FieldChange {
  /** `description`, `inputSchema`, … or `effect`. */
  readonly field: string;
  /** Canonical JSON, cut; absent: there was none. */
  readonly was?: string;
  readonly is?: string;
}

/** Empty for a tool that runs get as it was approved last, and for one that its server has no more. */
export function toolChanges(tool: SurveyedTool): readonly FieldChange[] {
  const { state, definition, approved, effect, approvedEffect, wentBack } = tool;
  if (state === 'gone' || state === 'unusable') return [];
  if (state === 'approved' && wentBack === undefined) return [];
  const before = approved === undefined ? {} : { ...approved, effect: approvedEffect };
  return fieldChanges(before, { ...definition, effect });
}

function fieldChanges(before: object, after: object): readonly FieldChange[] {
  const old = before as { readonly [field: string]: Json };
  const now = after as { readonly [field: string]: Json };
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].toSorted().flatMap((field) => {
    const [was, is] = [textOf(old[field]), textOf(now[field])];
    if (was === is) return [];
    return [
      {
        field,
        ...(was !== undefined && { was: bounded(was) }),
        ...(is !== undefined && { is: bounded(is) }),
      },
    ];
  });
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : canonicalJson(value);
}

function bounded(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX)}…`;
}
