/** What servers of connectors offer and what is approved of it, as the store or the desk tells it. */
import { approveTools, asShown, type ShownTool } from '../../connectors/approve-tools.js';
import { survey, type Surveyed, type SurveyedTool } from '../../connectors/survey.js';
import { toolChanges, type FieldChange } from '../../connectors/tool-changes.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Cli } from '../command.js';
import { readConfig } from '../serve.js';
import { neededStore, type Session } from '../session.js';

export type OfferedTool = Omit<SurveyedTool, 'pinned' | 'definition'> & {
  /** Against what was approved. */
  readonly changes: readonly FieldChange[];
  /** As MCP lists tools; absent: nobody asked for it. */
  readonly definition?: { readonly [field: string]: unknown };
};

export type OfferedConnector = Omit<Surveyed, 'tools'> & { readonly tools: readonly OfferedTool[] };

/** Whoever tells it, and approves. */
export interface Offers {
  /** `connector` absent: all. Errors: InvalidRequest for a connector that is none. */
  look(connector: string | undefined, definitions: boolean): Promise<readonly OfferedConnector[]>;
  /** Errors: DecisionRejected when the server describes one of them otherwise than it was shown; nothing is approved then. */
  approve(connector: string, shown: readonly ShownTool[]): Promise<void>;
}

interface Here {
  readonly session: Session;
  readonly tenant: string;
  /** Who approves; absent: nobody does. */
  readonly by?: string;
}

/** By the configuration of this folder and the store of its workers. */
export function offersHere({ environment }: Cli, { session, tenant, by = '' }: Here): Offers {
  const surveyed = async (connector: string | undefined): Promise<readonly Surveyed[]> => {
    const config = await readConfig(session.place, environment.folder);
    return survey({ config, store: await session.wholeStore(), tenant, connector });
  };
  return {
    look: async (connector) => (await surveyed(connector)).map(offeredOf),
    async approve(connector, shown) {
      const store = await neededStore(session);
      const [found] = await surveyed(connector);
      if (found === undefined || found.status === 'failed') throw down(connector, found?.message);
      const now = asShown(found, shown);
      if ('changed' in now) throw changedSince(connector, now.changed);
      await approveTools(store, { tenant, connector, tools: now.tools, by, at: Date.now() });
    },
  };
}

function offeredOf({ tools, ...connector }: Surveyed): OfferedConnector {
  return {
    ...connector,
    tools: tools.map((tool) => {
      const { pinned: _, definition, ...told } = tool;
      return { ...told, changes: toolChanges(tool), definition: { ...definition } };
    }),
  };
}

export function down(connector: string, why = ''): HoldfastError {
  const hint = 'Try again when it answers.';
  return new HoldfastError('ToolUnavailable', `${connector} is down: ${why}`, { hint });
}

export function changedSince(connector: string, tool: string): HoldfastError {
  return new HoldfastError(
    'DecisionRejected',
    `The server describes ${tool.slice(0, 100)} otherwise than it was shown, or has it no more. Nothing was approved.`,
    { hint: `Look at what the server says now: holdfast mcp diff ${connector}.` },
  );
}
