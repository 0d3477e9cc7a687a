/**
 * What the servers of a configuration say of their tools now, against what runs get of them.
 * Invariant: nothing is written, and a server that is down leaves the others as they are.
 */
import type { Config } from '../authoring/index.js';
import type { Connector } from '../authoring/connectors.js';
import {
  createConnectors,
  definitionProblem,
  pinnedTool,
  type PinnedTool,
  type ServerDefinition,
} from './index.js';
import { Unsent } from './fault.js';
import { loginReason, type TokenRows } from './oauth/stored-authorization.js';
import { HoldfastError } from '../core/state/errors.js';
import type { ConnectorToolRow } from '../store/connector-tools.js';
import type { Store } from '../store/store.js';

/**
 * 'approved': runs get it. 'first use': nobody has met the connector, and its first run approves it as it is. 'changed',
 * 'new': runs do not get it until a person says so. 'gone': the server lists it no more. 'unusable': no run can have it.
 */
export type ToolState = 'approved' | 'first use' | 'changed' | 'new' | 'gone' | 'unusable';

export interface ApprovedOnce {
  /** ms since epoch. */
  readonly at: number;
  /** Absent: the tool was there when the connector was first seen. */
  readonly by?: string;
}

/** An approval that counts again although a newer description was approved after it. */
interface WentBack extends ApprovedOnce {
  readonly newer: ApprovedOnce & { readonly hash: string };
}

export interface SurveyedTool {
  /** The name that models and policies use. */
  readonly name: string;
  /** As the server names it. */
  readonly tool: string;
  readonly state: ToolState;
  readonly effect: string;
  readonly hash: string;
  readonly version: string;
  readonly definition: ServerDefinition;
  /** With 'approved': its server went back to a description that was approved earlier. */
  readonly wentBack?: WentBack;
  /** With 'changed' and 'gone': what runs get; with `wentBack`: the newer description. */
  readonly approved?: ServerDefinition;
  readonly approvedEffect?: string;
  /** With 'unusable'. */
  readonly problem?: string;
  readonly pinned?: PinnedTool;
}

export interface Surveyed {
  readonly connector: string;
  readonly status: 'connected' | 'failed';
  readonly required: boolean;
  readonly trusted: boolean;
  readonly era?: 'modern' | 'legacy';
  readonly server?: string;
  /** Why somebody is to log in; the server may answer all the same. */
  readonly login?: string;
  /** Why it cannot be reached. */
  readonly message?: string;
  readonly tools: readonly SurveyedTool[];
}

const ROWS_MAX = 1_000;

export interface SurveyWanted {
  readonly config: Config;
  /** Absent: no worker has run yet. */
  readonly store: (Pick<Store, 'listConnectorTools'> & TokenRows) | undefined;
  readonly tenant: string;
  /** Absent: all. */
  readonly connector?: string | undefined;
  /** Of the wait for each server, ms; never longer than its own. */
  readonly limitMs?: number;
}

/** Errors: `InvalidRequest` for a connector that is none. */
export async function survey({
  config,
  store,
  tenant,
  connector,
  limitMs = Number.POSITIVE_INFINITY,
}: SurveyWanted): Promise<readonly Surveyed[]> {
  const known = [...config.connectors.keys()];
  if (connector !== undefined && !config.connectors.has(connector)) {
    throw new HoldfastError(
      'InvalidRequest',
      `The configuration has no connector ${JSON.stringify(connector.slice(0, 60))}.`,
      {
        hint:
          known.length === 0 ? 'Declare it in `mcp`.' : `The connectors are ${known.join(', ')}.`,
      },
    );
  }
  const connectors = createConnectors({ ...config, tokens: store });
  try {
    return await Promise.all(
      [...config.connectors.values()]
        .filter(({ name }) => connector === undefined || name === connector)
        .map(async (one) => {
          const rows = (await store?.listConnectorTools(tenant, one.name, ROWS_MAX)) ?? [];
          const signal = AbortSignal.timeout(Math.min(2 * one.connectTimeoutMs, limitMs));
          const { name, required, trusted } = one;
          try {
            const { definitions, era, server } = await connectors.list(name, signal, tenant);
            const row = await store?.connectorToken({ tenant, connector: name });
            const login = row && loginReason(row);
            const known = { ...(server && { server }), ...(login !== undefined && { login }) };
            const facts = { connector: name, required, trusted, era, ...known };
            return {
              ...facts,
              status: 'connected' as const,
              tools: toolsOf(one, definitions, rows),
            };
          } catch (error) {
            const message = toldOf(error);
            return {
              connector: name,
              status: 'failed' as const,
              required,
              trusted,
              message,
              tools: [],
            };
          }
        }),
    );
  } finally {
    await connectors.close();
  }
}

function toolsOf(
  connector: Connector,
  definitions: readonly ServerDefinition[],
  rows: readonly ConnectorToolRow[],
): readonly SurveyedTool[] {
  const now = definitions.flatMap((definition) => {
    const pinned = pinnedTool(connector, definition);
    return pinned === undefined ? [] : [surveyed(pinned, rows)];
  });
  const listed = new Set(now.map(({ name }) => name));
  const gone = new Map<string, SurveyedTool>();
  for (const row of rows) {
    if (listed.has(row.name) || gone.has(row.name) || row.approved === undefined) continue;
    const pinned = JSON.parse(row.pinned) as PinnedTool;
    const { definition } = pinned;
    gone.set(row.name, { ...factsOf(pinned), state: 'gone', definition, approved: definition });
  }
  return [...now, ...gone.values()];
}

function surveyed(pinned: PinnedTool, rows: readonly ConnectorToolRow[]): SurveyedTool {
  const facts = { ...factsOf(pinned), definition: pinned.definition, pinned };
  const problem = definitionProblem(pinned.definition);
  if (problem !== undefined) return { ...facts, state: 'unusable', problem };
  const own = rows
    .flatMap((row) => (row.name === facts.name && row.approved ? [{ row, ...row.approved }] : []))
    .toSorted((one, other) => other.at - one.at);
  const [newest] = own;
  const same = own.find(({ row }) => row.hash === facts.hash);
  if (newest === undefined) return { ...facts, state: rows.length === 0 ? 'first use' : 'new' };
  const { definition, record } = JSON.parse(newest.row.pinned) as PinnedTool;
  const before = { approved: definition, approvedEffect: record.effect };
  if (same === undefined) return { ...facts, state: 'changed', ...before };
  if (newest.row.hash === facts.hash) return { ...facts, state: 'approved' };
  const newer = { ...onceOf(newest), hash: newest.row.hash };
  return { ...facts, state: 'approved', ...before, wentBack: { ...onceOf(same), newer } };
}

function onceOf({ at, by }: ApprovedOnce): ApprovedOnce {
  return { at, ...(by !== undefined && { by }) };
}

function factsOf({ record }: PinnedTool) {
  const { name, effect, version, mcp } = record;
  return { name, tool: mcp?.tool ?? name, effect, version, hash: mcp?.hash ?? '' };
}

function toldOf(error: unknown): string {
  if (error instanceof Unsent) return error.told;
  return error instanceof Error ? error.message : String(error);
}
