/** A message of the user, checked before it is sent: whoever sends it hears what the run would refuse. */
import type { Attachment } from '../../core/state/attachment.js';
import { HoldfastError } from '../../core/state/errors.js';
import { TEXT_HINT, textDefect } from '../../pure/text-defect.js';
import { MESSAGE_CHARS_MAX, parseUserMessage } from '../../core/messages/parse-message.js';

export interface OutgoingMessage {
  readonly text: string;
  readonly id?: string;
  readonly attachments?: readonly Attachment[];
}

/** Errors: InvalidTask. */
export function checkMessage(message: OutgoingMessage): void {
  const defect = textDefect(message.text);
  if (defect !== undefined) {
    throw new HoldfastError('InvalidTask', `The message was not sent: its text ${defect}.`, {
      hint: TEXT_HINT,
    });
  }
  const parsed = parseUserMessage(message);
  if (parsed.ok) return;
  throw new HoldfastError('InvalidTask', `The message was not sent: ${parsed.reason}.`, {
    hint: `Send a text of 1 to ${MESSAGE_CHARS_MAX} characters.`,
  });
}
