/** What Temporal's own lists tell of a run beside its state: search attributes. */
import { upsertSearchAttributes } from '@temporalio/workflow';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  type SearchAttributePair,
  type TypedSearchAttributes,
} from '@temporalio/common';
import type { Showing } from '../core/state/showing.js';

const STATUS = defineSearchAttributeKey('HoldfastStatus', SearchAttributeType.KEYWORD);
const AGENT = defineSearchAttributeKey('HoldfastAgent', SearchAttributeType.KEYWORD);
const TENANT = defineSearchAttributeKey('HoldfastTenant', SearchAttributeType.KEYWORD);

/** Beside a status. */
export interface Shown {
  readonly agent: string;
  readonly tenant: string;
}

export function showStatus(status: string, shown: Shown): void {
  upsertSearchAttributes(attributesOf({ status, ...shown }));
}

/** What is told of a run, as Temporal takes it. */
export function attributesOf({ status, agent, tenant }: Showing): SearchAttributePair[] {
  const told = [
    [STATUS, status],
    [AGENT, agent],
    [TENANT, tenant],
  ] as const;
  return told.flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }]));
}

/** At the start of a workflow: what its start has shown. */
export function shownBy(attributes: TypedSearchAttributes): Showing {
  const [status, agent, tenant] = [STATUS, AGENT, TENANT].map((key) => attributes.get(key));
  return { status, agent, tenant };
}
