/**
 * Public entry `holdfast/http/projection`: events of a run as the AI SDK's UI message stream. Pure, and without Node's
 * modules: it runs in a browser as well.
 */
export { approvalIdOf, askOfApproval } from './asks.js';
export type {
  PartOrigin,
  UiAsk,
  UiChunk,
  UiFinishReason,
  UiProfile,
  UiRefused,
  UiRun,
  UiSuperseded,
} from './chunk.js';
export { chunksOf, isWaiting, leaveMessage, startMessage, tellMoment } from './fold.js';
export {
  liveParts,
  messagesOf,
  type SpokenMessage,
  type UiMessage,
  type UiPart,
} from './messages.js';
export type { UiFold, UiMoment, UiOptions, UiTold } from './state.js';
