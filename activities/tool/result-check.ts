/** Does what a tool returned fit the tool's output schema? (G73) */
import type { Tool } from '../../authoring/index.js';
import type { ToolOutcome } from '../../core/state/effect.js';
import type { Json, StoredText } from '../../core/json/json.js';
import type { Attachment } from '../../core/state/attachment.js';
import type { RecordedResult } from '../../pure/ledger.js';
import type { ResultText } from './result-text.js';

const DEFECT_CHARS_MAX = 1_000;
/** Of a call that changed something: before the defect. */
export const TOOK_EFFECT =
  'The call took effect and must not be repeated, but its result is unusable:';

/** What is wrong with it, or undefined. What is checked is the JSON that everybody else would get. */
export function outputDefect(tool: Tool, result: ResultText): string | undefined {
  if (tool.outputDefect === undefined) return undefined;
  if (!result.ok) return result.reason;
  const value = result.isText ? result.text : (JSON.parse(result.text) as Json);
  const defect = tool.outputDefect(value)?.slice(0, DEFECT_CHARS_MAX);
  return defect === undefined ? undefined : `it does not fit its output schema: ${defect}`;
}

/** The outcome of what the ledger says took effect. */
export function recordedOutcome(result: RecordedResult, reused: boolean): ToolOutcome {
  const { malformed, failed, content, attachments } = splitResult(result);
  if (failed !== undefined) return { kind: 'error', code: 'execution_error', message: failed };
  return malformed === undefined
    ? {
        kind: 'ok',
        content,
        ...(attachments !== undefined && { attachments }),
        ...(reused && { reused }),
      }
    : { kind: 'error', code: 'malformed_result', message: malformed, returned: content };
}

export function splitResult({ malformed, failed, attachments, ...content }: RecordedResult): {
  readonly malformed: string | undefined;
  readonly failed: string | undefined;
  readonly attachments: readonly Attachment[] | undefined;
  readonly content: StoredText;
} {
  return { malformed, failed, attachments, content };
}
