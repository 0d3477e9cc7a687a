/**
 * What every provider must do, Holdfast's and a user's own: one list of checks for any test runner.
 *
 *     for (const { name, run } of providerChecks({ connect, readConversation })) test(name, run);
 */
import { failureChecks } from './failure-checks.js';
import { replyChecks } from './reply-checks.js';
import { requestChecks } from './request-checks.js';
import type { ProviderCheck, ProviderUnderTest } from './subject.js';

/** Checks that a provider of models keeps the contract, to be run by any test runner. */
export function providerChecks(subject: ProviderUnderTest): readonly ProviderCheck[] {
  return [...replyChecks(subject), ...requestChecks(subject), ...failureChecks(subject)];
}

export type { ProviderCheck, ProviderUnderTest, StallTimes } from './subject.js';
export {
  readChatBody,
  readMessagesBody,
  readResponsesBody,
  type WireEntry,
} from './wire-conversation.js';
