/** Addresses of the page's own views. */

export const inboxPath = (askId: string): string => `/inbox/${encodeURIComponent(askId)}`;
export const runPath = (runId: string): string => `/runs/${encodeURIComponent(runId)}`;
export const stepPath = (runId: string, step: number): string => `${runPath(runId)}/steps/${step}`;
/** Two runs beside each other. */
export const diffPath = (a: string, b: string): string =>
  `${runPath(a)}/diff/${encodeURIComponent(b)}`;
export const goalPath = (goalId: string): string => `/goals/${encodeURIComponent(goalId)}`;
export const evidencePath = (goalId: string, id: string): string =>
  `${goalPath(goalId)}/evidence/${encodeURIComponent(id)}`;
/** `digest`: of a brief that a question names. */
export const briefPath = (goalId: string, n: number, digest?: string): string =>
  `${goalPath(goalId)}/briefs/${n}${digest === undefined ? '' : `/${digest}`}`;
