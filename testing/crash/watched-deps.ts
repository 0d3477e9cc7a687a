/** What activities work with, told of each boundary that a run passes in it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActivityDeps } from '../../activities/index.js';
import type { Config, Tool } from '../../authoring/index.js';
import { isMutating } from '../../core/state/tool.js';
import type { Provider } from '../../providers/provider.js';
import type { Store } from '../../store/store.js';
import { TRANSACTION_SEAMS, type SeamPoint } from '../seams.js';
import type { CrashBoundary } from './boundary.js';

/** Told of a passage, in the run that passes; it may return late, or never. */
export type Passage = (boundary: CrashBoundary, runId: string) => void;

const BOUNDARY_OF: ReadonlyMap<SeamPoint, CrashBoundary> = new Map([
  ['before_claim', 'before-claim'],
  ['after_claim', 'after-claim'],
  ['after_effect', 'after-effect'],
  ['after_record', 'after-record'],
]);

export function watchedDeps(deps: ActivityDeps, passed: Passage): ActivityDeps {
  const seam = (point: SeamPoint, runId: string): void => {
    const boundary = BOUNDARY_OF.get(point);
    if (boundary !== undefined) passed(boundary, runId);
  };
  return {
    ...deps,
    store: watchedStore(deps.store, seam),
    config: watchedConfig(deps.config, seam),
    providers: new Map([...deps.providers].map(([name, one]) => [name, watched(one, passed)])),
  };
}

type Seam = (point: SeamPoint, runId: string) => void;

function watchedStore(store: Store, seam: Seam): Store {
  return {
    ...store,
    async together(work, step) {
      if (step === undefined) return store.together(work);
      const [before, after] = TRANSACTION_SEAMS[step.step];
      seam(before, step.runId);
      const result = await store.together(work, step);
      if (succeeded(result)) seam(after, step.runId);
      return result;
    },
  };
}

/** A claim that was not given and a record that was not taken are no step. */
function succeeded(result: unknown): boolean {
  if (typeof result === 'boolean') return result;
  return (result as { readonly claimed?: boolean } | undefined)?.claimed === true;
}

function watchedConfig(config: Config, seam: Seam): Config {
  const watch = (tool: Tool): Tool => {
    if (!isMutating(tool.record)) return tool;
    const around =
      (run: Tool['run']): Tool['run'] =>
      async (input, ctx) => {
        seam('before_effect', ctx.runId);
        const value = await run(input, ctx);
        seam('after_effect', ctx.runId);
        return value;
      };
    const { sandboxRun } = tool;
    return {
      ...tool,
      run: around(tool.run),
      ...(sandboxRun !== undefined && { sandboxRun: around(sandboxRun) }),
    };
  };
  return { ...config, tools: new Map([...config.tools].map(([key, tool]) => [key, watch(tool)])) };
}

/** The run whose model request is under way. */
const asking = new AsyncLocalStorage<string>();

function watched(provider: Provider, passed: Passage): Provider {
  return {
    name: provider.name,
    async complete(request, progress) {
      const runId = request.metadata?.runId ?? '';
      passed('before-model-request', runId);
      let chunks = 0;
      const onProgress = (): void => {
        progress.onProgress();
        chunks += 1;
        // What arrived before this chunk has been taken up.
        if (chunks === 2) passed('mid-stream', runId);
      };
      const reply = await asking.run(runId, () =>
        provider.complete(request, { ...progress, onProgress }),
      );
      passed('after-model-reply', runId);
      return reply;
    },
  };
}

/** A `fetch` for the provider: an answer that begins says that the request has arrived as a whole. */
export function watchedFetch(passed: Passage): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    passed('after-model-request', asking.getStore() ?? '');
    return response;
  };
}
