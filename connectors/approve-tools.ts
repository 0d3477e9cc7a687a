/**
 * A person's approval of tools of a connector, as their server describes them now.
 * Invariant: the approval is in the audit trail before any run gets the tools.
 */
import type { AuditEntry } from '../pure/audit.js';
import type { Store } from '../store/store.js';
import type { Surveyed, SurveyedTool } from './survey.js';

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

/** A tool as somebody has seen it. */
export interface ShownTool {
  readonly name: string;
  /** Of all that the server said of it. */
  readonly hash: string;
}

/** The name of the first of them that the server describes otherwise now, or has no more; else all as they were shown. */
export function asShown(
  { tools }: Pick<Surveyed, 'tools'>,
  shown: readonly ShownTool[],
): { readonly tools: readonly SurveyedTool[] } | { readonly changed: string } {
  const found: SurveyedTool[] = [];
  for (const { name, hash } of shown) {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined || !isApprovable(tool) || tool.hash !== hash) return { changed: name };
    found.push(tool);
  }
  return { tools: found };
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
