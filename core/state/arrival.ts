/** What a run remembers between its opening and its announcement. */
import type { ConnectorReport } from './connector.js';
import type { StoredText } from '../json/json.js';
import type { Handoff } from './handoff.js';

/** What is known of a run that has been opened and not announced. */
export interface Arrival {
  readonly goal: StoredText;
  readonly hooks?: 'running' | 'done';
  /** Why nobody may work on the task, by a word of the house. */
  readonly denied?: string;
  /** Of a cycle: what its goal knows, as data. */
  readonly known?: readonly StoredText[];
  /** The run was announced before and goes on under another agent, which is told this. */
  readonly handedOver?: { readonly handoff: Handoff; readonly message: StoredText };
  readonly connectors?: Pick<ConnectorReport, 'connectors' | 'missing'>;
  /** A fork: its conversation has the goal already, and was greeted before. */
  readonly forked?: true;
  /** What the SessionStart hooks add to the conversation. */
  readonly context: readonly string[];
}
