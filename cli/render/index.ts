/** How runs look on a terminal; used by the commands and by the examples. */
export {
  costLine,
  countText,
  dateTimeText,
  durationText,
  relativeText,
  timeText,
  usdText,
} from './amounts.js';
export { approvalCard, shellWord, type CardOptions } from './approval-card.js';
export { eventLine, isDetail, type EventLineOptions } from './event-line.js';
export { inert, inertInline, inertJson, inertLines } from './inert.js';
export { COLOURED, PLAIN, type Paint } from './paint.js';
export { resultBlock, type ResultOptions } from './result-block.js';
export { table, type Table } from './table.js';
