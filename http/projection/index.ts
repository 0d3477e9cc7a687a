/**
 * Public entry `holdfast/http/projection`: events of a run as the AI SDK's UI message stream. Pure, and without Node's
 * modules: it runs in a browser as well.
 */
export { approvalIdOf, askOfApproval } from './asks.js';
export type {
  PartOrigin,
  UiAgent,
  UiAsk,
  UiChunk,
  UiFinishReason,
  UiProfile,
  UiRefused,
  UiRun,
  UiSaid,
  UiSource,
  UiSuperseded,
  UiUnread,
  UiUnreadPart,
} from './chunk.js';
export { chunksOf, leaveMessage, startMessage, tellMoment } from './fold.js';
export { isWaiting } from './waiting.js';
export {
  liveParts,
  messagesOf,
  type SpokenMessage,
  type UiMessage,
  type UiPart,
} from './messages.js';
export type { UiFold, UiMoment, UiOptions, UiPlace, UiTold } from './state.js';
