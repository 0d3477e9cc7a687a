/** How runs look on a terminal; used by the commands and by the examples. */
export { plural } from '../../pure/plural.js';
export { costLine, dateTimeText, durationText, relativeText, usdText } from './amounts.js';
export { asCalled, invocationOf, OWN_NAME, type GivenPlace } from './called.js';
export { archivalLine } from './archival-line.js';
export { shellWord } from './answer-commands.js';
export { approvalCard } from './approval-card.js';
export { deliveryLines } from './delivery.js';
export { byText, eventLine, isDetail } from './event-line.js';
export { goalResultLines, logLines, measurementLines, planLines, reviewLines } from './goal.js';
export { exactJson, inert, inertInline, inertJson, inertLines, inertText } from './inert.js';
export { inertStream, type InertStream } from './inert-stream.js';
export { COLOURED, PLAIN, type Paint } from './paint.js';
export { receiptLines } from './receipt.js';
export { resultBlock } from './result-block.js';
export { sourceLines } from './source-lines.js';
export { table } from './table.js';
export { mendWait, mendWaitNow, waitLine } from './waits.js';
