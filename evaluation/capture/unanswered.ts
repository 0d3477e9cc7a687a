/** Attempts of tools whose answers a record lacks, in words: the case does without them. */
import type { Recording } from './recording.js';

/** Calls with more attempts than the record has answers of; of a call without any the case says nothing. */
export function unansweredCalls(
  { bundle }: Recording,
  answersOf: (callId: string) => number,
): readonly string[] {
  const made = new Map<string, number>();
  for (const event of bundle.events) {
    if (event.type !== 'tool_finished' || event.hosted === true) continue;
    made.set(event.callId, (made.get(event.callId) ?? 0) + event.attempts);
  }
  return [...made].flatMap(([callId, count]) => {
    const answers = answersOf(callId);
    if (answers === 0 || count <= answers) return [];
    return [
      `call ${callId}: ${count - answers} of its ${count} attempts, whose answers the record lacks: a worker died, or the tool was asked again`,
    ];
  });
}
