/** Addresses of the page's own views. */

export const inboxPath = (askId: string): string => `/inbox/${encodeURIComponent(askId)}`;
export const runPath = (runId: string): string => `/runs/${encodeURIComponent(runId)}`;
