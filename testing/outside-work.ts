/**
 * Code of a test or a configuration that runs within a simulation: while it works, virtual time stands still.
 * Invariant: with a limit, nothing is waited for longer than that; the error names what is under way.
 */
import type { Config, Hook, TaskGate, Tool } from '../authoring/index.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Provider } from '../providers/provider.js';

export type Counted = <T>(work: Promise<T>, what?: string) => Promise<T>;

/** What takes real time, and the wait for it; `limitMs`: the longest wait until any of it ends. */
export function outsideWork(limitMs?: number) {
  const open = new Map<Promise<unknown>, string>();
  const counted: Counted = (work, what = 'something') => {
    const ended: Promise<void> = work.then(
      () => void open.delete(ended),
      () => void open.delete(ended),
    );
    open.set(ended, what);
    return work;
  };
  const waiting = (): Promise<unknown> | undefined => {
    if (open.size === 0) return undefined;
    const first = Promise.race(open.keys());
    return limitMs === undefined ? first : within(limitMs, first, [...open.values()]);
  };
  return { counted, waiting };
}

async function within(
  limitMs: number,
  work: Promise<unknown>,
  whats: readonly string[],
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLong(limitMs, whats)), limitMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLong(limitMs: number, whats: readonly string[]): HoldfastError {
  const what = whats.slice(0, 5).join(', ');
  return new HoldfastError('Aborted', `After ${limitMs} ms this has not ended: ${what}.`, {
    hint: 'Let it end, give it virtual time (takesMs), or raise limitMs.',
  });
}

export function providersIn(
  counted: Counted,
  given: ReadonlyMap<string, Provider>,
): ReadonlyMap<string, Provider> {
  const wrap = ({ name, complete }: Provider): Provider => ({
    name,
    complete: (request, progress) =>
      counted(complete(request, progress), `a request to ${request.model}`),
  });
  return new Map([...given].map(([name, provider]) => [name, wrap(provider)]));
}

/** The configuration with the code of its tools, hooks and gates counted; `isOwn`: of these tools, default of all. */
export function codeIn(
  counted: Counted,
  config: Config,
  isOwn: (tool: Tool) => boolean = () => true,
): Config {
  const tools = [...config.tools].map(
    ([key, tool]) => [key, isOwn(tool) ? toolIn(counted, tool) : tool] as const,
  );
  const hooks = [...config.hooks].map(([name, hook]) => [name, hookIn(counted, hook)] as const);
  const agents = [...config.agents].map(([name, one]) => [name, gatedIn(counted, one)] as const);
  return {
    ...gatedIn(counted, config),
    agents: new Map(agents),
    tools: new Map(tools),
    hooks: new Map(hooks),
  };
}

function gatedIn<T extends { readonly refuseTask?: TaskGate }>(counted: Counted, one: T): T {
  const { refuseTask } = one;
  if (refuseTask === undefined) return one;
  const asked = async (...given: Parameters<TaskGate>) => refuseTask(...given);
  return { ...one, refuseTask: (...given) => counted(asked(...given), 'a gate of tasks') };
}

function toolIn(counted: Counted, tool: Tool): Tool {
  const { run, sandboxRun, probe, record } = tool;
  const wrap =
    (code: Tool['run']): Tool['run'] =>
    (input, ctx) =>
      counted(code(input, ctx), `a call of ${record.name}`);
  return {
    ...tool,
    run: wrap(run),
    ...(sandboxRun !== undefined && { sandboxRun: wrap(sandboxRun) }),
    ...(probe !== undefined && { probe: wrap(probe) }),
  };
}

function hookIn(counted: Counted, hook: Hook): Hook {
  return {
    ...hook,
    run: (input, ctx) => counted(hook.run(input, ctx), `the hook ${hook.name}`),
  };
}
