/** The summaries of a recorded conversation as the script of a case. */
import type { TranscriptNode } from '../../core/state/transcript.js';
import type { FixtureDocument } from '../format/document.js';
import { ofKind, outputOf, type Recording } from './recording.js';
import type { Texts } from './texts.js';

type Summary = NonNullable<FixtureDocument['compaction']>[number];

export function summaryScript(recording: Recording, texts: Texts): readonly Summary[] {
  return ofKind(recording, 'compact').map(({ activity, input }): Summary => {
    const output = outputOf(activity, 'compact');
    if (output === undefined) {
      return {
        error: activity.end.kind === 'failed' ? activity.end.message : 'The summary was cut off.',
      };
    }
    const node = Object.values(recording.bundle.nodes).find(
      ({ messageId, flags }) =>
        messageId === input.messageId && Array.isArray(flags) && flags.includes('compactSummary'),
    ) as unknown as TranscriptNode | undefined;
    const [block] = node?.blocks ?? [];
    const text = block?.type === 'text' ? texts.text(block.text) : '';
    return {
      // Behind the line by which the runtime says what it is.
      summary: text.slice(text.indexOf('\n\n') + 2),
      tokens: output.tokens,
      usage: { ...output.usage },
    };
  });
}
