/**
 * The connectors of a case: those that every worker has, which reach the servers of the case.
 * Invariants: a call of a tool is seen as any other is; the connections of a worker end with it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isToolError, RETRYABLE } from '../../authoring/tool-error.js';
import type { Config, Tool, ToolContext } from '../../authoring/index.js';
import {
  boundedFetch,
  createConnectors,
  isInputRequired,
  messageBytes,
  type Connectors,
  type TransportFactory,
} from '../../connectors/index.js';
import { loadValidator } from '../../connectors/sdk.js';
import type { Json } from '../../core/json/json.js';
import { retryFor, toolKey } from '../../core/state/tool.js';
import type { SeenServerCall } from '../engine.js';
import type { CaseTool, Fixture } from '../fixture.js';
import type { ServerChange } from '../server-case.js';
import type { ScriptedResult } from '../script.js';
import { reachAtEnd, toolOccurrence } from '../scripted/moments.js';
import { unfitOf } from '../scripted/unfit.js';
import { stopsWork, type StageWorker } from '../scripted/stage.js';
import type { ToolCast } from '../scripted/tools.js';
import { RealTime } from '../real-time.js';
import type { Caller } from './server-calls.js';
import { serverDouble, type ServerDouble, type ServerPlace } from './server-double.js';

/** How much longer than a run the client of a server waits: the run's own limits are the ones that a case is about. */
const PATIENCE = 10;
/** Who calls a server just now; one for all cases (evaluation/real-time.ts says why). */
const CALLER = new AsyncLocalStorage<Caller>();

export interface CaseConnectors {
  readonly world: {
    readonly connectors: Connectors;
    /** Work that takes real time. */
    readonly outside: () => Promise<unknown> | undefined;
  };
  change(change: ServerChange): void;
  /** By server: the calls that reached it, in order. */
  served(): { readonly [server: string]: readonly SeenServerCall[] };
  close(): Promise<void>;
}

/** Undefined: the case has no servers. */
export function caseConnectors(
  fixture: Fixture,
  config: Config,
  cast: ToolCast,
): CaseConnectors | undefined {
  const { servers, tools } = fixture;
  if (servers.size === 0) return undefined;
  const time = new RealTime();
  const doubles = doublesOf(fixture, {
    caller: () => CALLER.getStore()!,
    forEver: (signal) => time.except(() => stopped(signal)),
  });
  const clock = (): number => cast.stage.now();
  const open = (): Connectors => openConnectors({ config, clock }, doubles);
  let current = open();
  /** Its connections end with a worker: nobody waits for what it has asked. */
  const renew = (): void => {
    void current.close();
    current = open();
  };
  // What checks answers of people is there before the first of them: the time of the case does not wait for files.
  void time.during(loadValidator);
  const kept = new Map<string, Tool>();

  const connectors: Connectors = {
    list: (name, signal, tenant) => time.during(() => current.list(name, signal, tenant)),
    async tool(pinned, tenant) {
      const { record } = pinned;
      const patient = { ...record, timeoutMs: record.timeoutMs * PATIENCE };
      const declared = tools.get(record.name);
      const code = async (): Promise<Tool> =>
        time.during(() => current.tool({ ...pinned, record: patient }, tenant));
      const tool = await code();
      if (declared === undefined) return { ...tool, record };
      const seen = new ServedCalls({ record, declared, cast, time }, async () => {
        const { run } = await code();
        return run;
      });
      const served = {
        ...tool,
        ...unfitOf(tool, declared),
        record,
        run: (input: unknown, ctx: ToolContext) => seen.run(input as Json, ctx, renew),
      };
      kept.set(`${tenant}\0${toolKey(record)}`, served);
      return served;
    },
    known: (tenant, key) => kept.get(`${tenant}\0${key}`),
    close: () => current.close(),
  };
  return {
    world: { connectors, outside: () => time.current() },
    change: (change) => doubles.get(change.name)?.change(change),
    served: () => Object.fromEntries([...doubles].map(([name, { calls }]) => [name, calls])),
    close: () => current.close(),
  };
}

function doublesOf(
  { servers, tools }: Fixture,
  place: ServerPlace,
): ReadonlyMap<string, ServerDouble> {
  const all = [...tools.values()];
  return new Map(
    [...servers.values()].map((server) => {
      const own = all.filter(({ served }) => served?.server === server.name);
      return [server.name, serverDouble(server, own, place)];
    }),
  );
}

/** As a worker makes them; requests go to the doubles. */
function openConnectors(
  { config, clock }: { readonly config: Config; readonly clock: () => number },
  doubles: ReadonlyMap<string, ServerDouble>,
): Connectors {
  const transports: TransportFactory = (connector, { sdk }) => {
    const { reached, maxResultBytes, name } = connector;
    if (reached.kind === 'stdio') throw new Error('Servers of cases are reached by an address.');
    const fetch = boundedFetch(messageBytes(maxResultBytes), doubles.get(name)!.fetch);
    return Promise.resolve(new sdk.StreamableHTTPClientTransport(new URL(reached.url), { fetch }));
  };
  const patient = [...config.connectors].map(
    ([name, one]) => [name, { ...one, connectTimeoutMs: one.connectTimeoutMs * PATIENCE }] as const,
  );
  return createConnectors({ connectors: new Map(patient), transports, clock });
}

interface Serving {
  readonly record: Tool['record'];
  readonly declared: CaseTool;
  readonly cast: ToolCast;
  readonly time: RealTime;
}

/** The calls of one tool, as the evidence of the case. */
class ServedCalls {
  private readonly failures = new Map<string, number>();

  constructor(
    private readonly serving: Serving,
    private readonly code: () => Promise<Tool['run']>,
  ) {}

  async run(input: Json, ctx: ToolContext, renew: () => void): Promise<unknown> {
    const { declared, cast, time } = this.serving;
    const { stage, executions } = cast;
    const worker = stage.worker();
    const { callId, idempotencyKey: key } = ctx;
    const handed = { callId, tool: declared.name, key, input, sandbox: false };
    const end = executions.begin(handed, stage.now());
    let isDead = false;
    worker.onDeath(() => {
      isDead = true;
      end(stage.now());
      renew();
    });
    try {
      await this.started(ctx, worker);
      const caller = this.callerOf(ctx, worker);
      const run = await this.code();
      const value = await time.during(() =>
        CALLER.run(caller, () => Promise.resolve(run(input, ctx))),
      );
      await this.finished(ctx, worker);
      return value;
    } catch (error) {
      // What runs in a dead worker never comes back.
      if (isDead) return await new Promise<never>(() => undefined);
      if (this.isAnswer(error, callId)) await this.finished(ctx, worker);
      throw error;
    } finally {
      end(stage.now());
    }
  }

  private callerOf(ctx: ToolContext, worker: StageWorker): Caller {
    const { time, cast, declared } = this.serving;
    const { callId, idempotencyKey: key, signal } = ctx;
    return {
      callId,
      place: cast.placeOf(ctx.runId),
      unrecorded: (input: Json) => cast.onUnmatched?.(declared.name, input, ctx.runId),
      wait: async (result: ScriptedResult) => {
        const ends = result.kind !== 'timeout' && result.kind !== 'hang';
        await time.except(async () => {
          await worker.waitAsCall({ callId, ends }, result.delayMs, signal);
          if (!ends) await stopped(signal);
        });
        if (signal.aborted) throw signal.reason as Error;
      },
      happen: () => cast.executions.tookEffect(declared.name, key),
      die: () => time.except(() => worker.die()),
    };
  }

  /** The run hears of it: neither a question nor a failure after which the call is made again. */
  private isAnswer(error: unknown, callId: string): boolean {
    if (isInputRequired(error)) return false;
    const isRetryable =
      (error as { retryable?: unknown } | null)?.retryable === true ||
      (isToolError(error) && error.code === RETRYABLE);
    if (!isRetryable) return isToolError(error);
    const failures = (this.failures.get(callId) ?? 0) + 1;
    this.failures.set(callId, failures);
    const { record, cast } = this.serving;
    return retryFor(record) === 'single' ? isToolError(error) : failures > cast.maxRetries;
  }

  private async started({ callId, runId, signal }: ToolContext, worker: StageWorker) {
    const { declared, cast } = this.serving;
    const id = toolOccurrence('tool_started', callId);
    const { name: tool } = declared;
    const occurrence = { kind: 'event', event: 'tool_started', runId, call: callId, tool, id };
    const actions = await cast.moments.reach(occurrence as never);
    if (actions.length > 0) await worker.settle(signal, stopsWork(actions));
  }

  private async finished({ callId, runId }: ToolContext, worker: StageWorker): Promise<void> {
    const { declared, cast } = this.serving;
    const id = toolOccurrence('tool_finished', callId);
    const { name: tool } = declared;
    const occurrence = { kind: 'event', event: 'tool_finished', runId, call: callId, tool, id };
    await reachAtEnd(cast.moments, occurrence as never, worker);
  }
}

function stopped(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject((signal?.reason ?? new Error('Stopped.')) as Error);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
