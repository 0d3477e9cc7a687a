/**
 * The conversations of the sub-agents below a run, beside its own.
 * Invariant: at most SUB_AGENTS_MAX are read, over all generations; what is left out or not stored is said.
 */
import type { ReadingStore } from '../link.js';
import {
  messagesAt,
  type HeadOfOpenRun,
  type Reader,
  type TranscriptMessage,
} from './transcript.js';

const SUB_AGENTS_MAX = 50;

export interface SubAgentTranscript {
  readonly runId: string;
  /** The call of the run above that started it. */
  readonly callId: string;
  /** The agents from the root to it, both among them. */
  readonly agentPath: readonly string[];
  /** null: nothing of its conversation is stored. */
  readonly messages: readonly TranscriptMessage[] | null;
  readonly subAgents: readonly SubAgentTranscript[];
}

export interface SubAgentTranscripts {
  readonly subAgents: readonly SubAgentTranscript[];
  /** There are more than are read here. */
  readonly leftOut?: true;
}

type TreeReader = Reader & Pick<ReadingStore, 'listChildren'>;

export async function subAgentTranscripts(
  store: TreeReader,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  headOfOpenRun: HeadOfOpenRun,
): Promise<SubAgentTranscripts> {
  let room = SUB_AGENTS_MAX;
  const found = { leftOut: false };

  async function below(parent: string): Promise<readonly SubAgentTranscript[]> {
    const read: SubAgentTranscript[] = [];
    // One more than there is room for tells whether something is left out.
    const rows = await store.listChildren(tenant, parent, { limit: SUB_AGENTS_MAX + 1 });
    for (const { child: runId, place } of rows) {
      if (place === undefined) continue;
      if (room === 0) {
        found.leftOut = true;
        break;
      }
      room -= 1;
      const head = (await store.getRun(tenant, runId))?.head ?? (await headOfOpenRun(runId));
      const messages = head === undefined ? null : await messagesAt(store, tenant, head);
      const { call: callId, path: agentPath } = place;
      read.push({ runId, callId, agentPath, messages, subAgents: await below(runId) });
    }
    return read;
  }

  const subAgents = await below(id);
  return { subAgents, ...(found.leftOut && { leftOut: true }) };
}
