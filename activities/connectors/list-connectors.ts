/**
 * What the connectors of an agent offer at the opening of a run.
 * Invariants: all are asked at once, each within its time; one that is down hides its tools and says so, and ends the run
 * only where it is required (MC-02); a run gets no tool whose definition nobody has approved.
 */
import { CancelledFailure } from '@temporalio/common';
import type { Agent, Tool } from '../../authoring/index.js';
import { CONNECTOR_PREFIX, connectorNameOf, type Connector } from '../../authoring/connectors.js';
import {
  definitionProblem,
  pinnedTool,
  type Listing,
  type PinnedTool,
} from '../../connectors/index.js';
import type { ConnectorReport, ConnectorState } from '../../core/state/connector.js';
import type { RunRef } from '../../core/state/effect.js';
import { matchesName } from '../../core/state/policy.js';
import { failure } from '../failure.js';
import { graceOf, now, type InTransaction } from '../deps.js';
import { runOutside } from '../run-outside.js';
import type { Scope } from '../scope.js';
import { messageOf } from '../tool/tool-message.js';

/** Tools of connectors in one run, beside its own. */
const TOOLS_MAX = 60;
const SCHEMAS_BYTES_MAX = 512 * 1024;
const WARNINGS_MAX = 16;
const MESSAGE_CHARS_MAX = 400;
const NAMES_SHOWN_MAX = 5;
/** An attempt of the opening has a minute for everything. */
const LISTING_MS_MAX = 25_000;

export interface OfferedTools {
  readonly tools: readonly Tool[];
  /** Absent: the agent uses no connector. */
  readonly report?: ConnectorReport;
}

type Warning = ConnectorReport['warnings'][number];

interface Offered {
  readonly state: ConnectorState;
  readonly pinned: readonly PinnedTool[];
  readonly warnings: readonly Warning[];
}

export async function listConnectors(
  deps: InTransaction,
  scope: Scope,
  { run, agent }: { readonly run: RunRef; readonly agent: Agent },
): Promise<OfferedTools> {
  const { mcp } = agent;
  if (mcp.length === 0) return { tools: [] };
  const names = [...new Set(mcp.map(connectorNameOf))];
  const offered = await Promise.all(
    names.map((name) => offeredBy(deps, scope, { run, agent, connector: connectorOf(deps, name) })),
  );
  const fitting = fit(offered.flatMap(({ pinned }) => pinned));
  const tools: Tool[] = [];
  for (const pinned of fitting.kept) tools.push(await codeOfPinned(deps, run, pinned));
  const missing = offered.find(
    ({ state }) => state.status === 'failed' && connectorOf(deps, state.name).required,
  );
  const warnings = [...offered.flatMap((one) => one.warnings), ...fitting.warnings];
  return {
    tools,
    report: {
      connectors: offered.map(({ state }) => state),
      warnings: warnings.slice(0, WARNINGS_MAX),
      ...(missing !== undefined && {
        missing: {
          connector: missing.state.name,
          message: `Restore the connector ${missing.state.name}, then start again: the agent needs it. ${missing.warnings[0]?.message ?? ''}`,
        },
      }),
    },
  };
}

/** The configuration has checked that each connector of an agent is one. */
function connectorOf({ config }: InTransaction, name: string): Connector {
  const connector = config.connectors.get(name);
  if (connector === undefined) throw new Error(`There is no connector ${name}.`);
  return connector;
}

interface ConnectorOfRun {
  readonly run: RunRef;
  readonly agent: Agent;
  readonly connector: Connector;
}

async function offeredBy(
  deps: InTransaction,
  scope: Scope,
  asked: ConnectorOfRun,
): Promise<Offered> {
  const { run, agent, connector } = asked;
  const { name, connectTimeoutMs } = connector;
  const { connectors } = deps;
  if (connectors === undefined) return down(name, 'this worker reaches no servers');
  const timeoutMs = Math.min(2 * connectTimeoutMs, LISTING_MS_MAX);
  const ended = await runOutside(deps, scope, {
    run: (signal) => connectors.list(name, signal, run.tenant),
    timeoutMs,
    graceMs: graceOf(deps, timeoutMs),
  });
  switch (ended.kind) {
    case 'timed_out':
      return down(name, `its server did not answer within ${timeoutMs} ms`);
    case 'threw':
      return down(name, messageOf(ended.error));
    case 'stopped':
      if (scope.stopRequested()) throw new CancelledFailure('The run wants this no more.');
      throw failure('Aborted', { message: 'This worker is shutting down.', retryable: true });
    case 'returned':
      return usable(deps, { run, agent, connector }, ended.value as Listing);
  }
}

function down(name: string, why: string): Offered {
  const message = `The tools of ${name} are hidden: ${why}`.slice(0, MESSAGE_CHARS_MAX);
  return {
    state: { name, status: 'failed', tools: 0 },
    pinned: [],
    warnings: [{ code: 'connector_down', message }],
  };
}

async function usable(
  deps: InTransaction,
  { run, agent, connector }: ConnectorOfRun,
  { definitions, era, server }: Listing,
): Promise<Offered> {
  const { name } = connector;
  const bad: string[] = [];
  const wanted: PinnedTool[] = [];
  const names = new Set<string>();
  for (const definition of definitions) {
    const pinned = pinnedTool(connector, definition);
    if (pinned === undefined || !isUsed(agent, connector, pinned)) continue;
    const problem =
      definitionProblem(definition) ??
      (names.has(pinned.record.name) ? 'another tool has its name' : undefined) ??
      (await schemaDefect(deps, run, pinned));
    names.add(pinned.record.name);
    if (problem === undefined) wanted.push(pinned);
    else bad.push(`${definition.name.slice(0, 100)}: ${problem}`);
  }
  const rows = await deps.store.meetTools({
    tenant: run.tenant,
    connector: name,
    at: now(deps),
    tools: wanted.map((pinned) => {
      const { name: tool, version, mcp } = pinned.record;
      return { name: tool, version, hash: mcp?.hash ?? '', pinned: JSON.stringify(pinned) };
    }),
  });
  const approved = new Set(rows.filter((row) => row.approved !== undefined).map((row) => row.name));
  const pinned = wanted.filter(({ record }) => approved.has(record.name));
  const fresh = wanted.filter(({ record }) => !approved.has(record.name));
  return {
    state: {
      name,
      status: 'connected',
      tools: pinned.length,
      era,
      ...(server !== undefined && { server }),
    },
    pinned,
    warnings: [
      ...bad
        .slice(0, NAMES_SHOWN_MAX)
        .map((what) => hidden(`A tool of ${name} is hidden. ${what}.`)),
      ...(fresh.length === 0 ? [] : [unapproved(name, fresh)]),
    ],
  };
}

/** The agent names the whole connector, or this tool of it. */
function isUsed({ mcp }: Agent, { name }: Connector, { record }: PinnedTool): boolean {
  return mcp.some((used) =>
    used.startsWith(CONNECTOR_PREFIX) ? matchesName(used, record.name) : used === name,
  );
}

async function schemaDefect(
  deps: InTransaction,
  run: RunRef,
  pinned: PinnedTool,
): Promise<string | undefined> {
  try {
    await codeOfPinned(deps, run, pinned);
    return undefined;
  } catch (error) {
    return `its schema cannot be used: ${messageOf(error)}`;
  }
}

function codeOfPinned(
  { connectors }: InTransaction,
  { tenant }: RunRef,
  pinned: PinnedTool,
): Promise<Tool> {
  if (connectors === undefined) throw new Error('This worker reaches no servers.');
  return connectors.tool(pinned, tenant);
}

function hidden(message: string): Warning {
  return { code: 'server_tool_hidden', message: message.slice(0, MESSAGE_CHARS_MAX) };
}

function unapproved(connector: string, fresh: readonly PinnedTool[]): Warning {
  const names = fresh.map(({ definition }) => definition.name.slice(0, 60));
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  const more = names.length > NAMES_SHOWN_MAX ? ' and others' : '';
  return hidden(
    `Tools of ${connector} are new or described otherwise than before, and hidden: ${shown}${more}. See holdfast mcp diff ${connector}, then holdfast mcp approve ${connector}.`,
  );
}

function fit(all: readonly PinnedTool[]): {
  readonly kept: readonly PinnedTool[];
  readonly warnings: readonly Warning[];
} {
  let bytes = 0;
  const kept = all.filter(({ definition }, index) => {
    bytes += Buffer.byteLength(JSON.stringify(definition));
    return index < TOOLS_MAX && bytes <= SCHEMAS_BYTES_MAX;
  });
  const left = all.length - kept.length;
  if (left === 0) return { kept, warnings: [] };
  const message = `${left} tools of connectors are hidden: a run has at most ${TOOLS_MAX} of them, of ${SCHEMAS_BYTES_MAX} bytes. Name fewer in the agent.`;
  return { kept, warnings: [hidden(message)] };
}
