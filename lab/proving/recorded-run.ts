/** A recorded conversation, whatever the form of its file was. */

export interface RecordedCall {
  /** Unique within the run. */
  readonly id: string;
  /** The id in the file, when it had to be changed because it was used before. */
  readonly recordedId?: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface RecordedUsage {
  readonly input: number;
  readonly output: number;
}

export interface UserTurn {
  readonly role: 'user';
  readonly text: string;
}

export interface AssistantTurn {
  readonly role: 'assistant';
  readonly text: string | null;
  readonly calls: readonly RecordedCall[];
  readonly usage?: RecordedUsage;
  readonly costUsd?: number;
}

export interface ToolTurn {
  readonly role: 'tool';
  /** The id of the call. */
  readonly id: string;
  readonly name: string;
  readonly content: string;
  readonly error: boolean;
}

export type RecordedTurn = UserTurn | AssistantTurn | ToolTurn;

export interface RecordedRun {
  /** Unique within the recording: letters, digits and `_.-` only. */
  readonly id: string;
  /** Position in the file; expected outcomes are matched by it. */
  readonly index: number;
  readonly taskId: string;
  readonly trial: number;
  readonly systemPrompt?: string;
  readonly turns: readonly RecordedTurn[];
  /** Assistant messages before the customer's first words, dropped. */
  readonly droppedGreetings: number;
  /** Calls whose id had been used before in the run. */
  readonly repeatedCallIds: number;
  /** Calls without a recorded answer; only the last assistant turn can have them. */
  readonly unansweredCalls: number;
  /** Tool messages of the customer's own tools, dropped. */
  readonly droppedUserTools: number;
  readonly termination?: string;
}
