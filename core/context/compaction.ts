/**
 * The context window. Until summaries exist, a context that is full by the provider's own count ends the
 * run before a request that cannot succeed (G34, G76).
 */
import { currentRoute } from '../route.js';
import type { OpenRun } from '../run.js';

export function contextIsFull(run: OpenRun): boolean {
  const { minOutputTokens } = run.frozen.settings;
  return run.context.knownTokens + minOutputTokens > currentRoute(run).contextWindow;
}
