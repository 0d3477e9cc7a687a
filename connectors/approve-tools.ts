/**
 * A person's approval of tools of a connector, as their server describes them now.
 * Invariant: the approval is in the audit trail before any run gets the tools.
 */
import type { AuditEntry } from '../pure/audit.js';
import type { Store } from '../store/store.js';
import type { SurveyedTool } from './survey.js';

export interface ToolsApproved {
  readonly tenant: string;
  readonly connector: string;
  readonly tools: readonly SurveyedTool[];
  readonly by: string;
  /** How the person was told apart. */
  readonly via?: string;
  /** ms since epoch. */
  readonly at: number;
}

export type ApprovingStore = Pick<Store, 'appendAudit' | 'meetTools' | 'approveTools'>;

/** What a run could have, if somebody approved it. */
export function isApprovable({ pinned, problem }: SurveyedTool): boolean {
  return pinned !== undefined && problem === undefined;
}

export async function approveTools(
  store: ApprovingStore,
  { tenant, connector, tools, by, via, at }: ToolsApproved,
): Promise<void> {
  await store.appendAudit(
    tenant,
    tools.map(({ name, version, hash }): AuditEntry => {
      const facts = { ...(via !== undefined && { via }), connector, tool: name, version, hash };
      return { at, kind: 'tool_approved', by, facts };
    }),
  );
  await store.meetTools({
    tenant,
    connector,
    at,
    tools: tools.map(({ name, version, hash, pinned }) => ({
      name,
      version,
      hash,
      pinned: JSON.stringify(pinned),
    })),
  });
  await store.approveTools({ tenant, connector, hashes: tools.map(({ hash }) => hash), by, at });
}
