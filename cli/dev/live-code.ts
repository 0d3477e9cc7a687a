/**
 * The code that the workers of `holdfast dev` serve: the newest for runs that begin, for each run under way the one that it
 * began with, and for what that lacks the newest that has it.
 * Invariants: what the workers say that they serve is what a run finds here (codes-of-runs.ts).
 */
import { createActivities, type ActivityDeps } from '../../activities/index.js';
import type { Config } from '../../authoring/index.js';
import { createConnectors, type Connectors } from '../../connectors/index.js';
import type { Activities, ActivityKind } from '../../core/state/effect.js';
import type { Provider } from '../../providers/provider.js';
import type { CodeNames } from '../../store/served.js';
import { codeServed } from '../../worker/announcer.js';
import type { RunningWorker } from '../../worker/index.js';
import { codesOfRuns, type RunInput, type Served } from './codes-of-runs.js';
import { failedCalls } from './failed-calls.js';
import { workInHand, type WorkInHand } from './work-in-hand.js';

export interface Code {
  readonly config: Config;
  readonly providers: ReadonlyMap<string, Provider>;
}

export interface LiveCode {
  /** Of one worker, in place of its own. */
  activities(deps: ActivityDeps): Activities;
  /** Hears what is served from then on. */
  join(worker: RunningWorker): void;
  /** For runs that begin from now on. Gives how many runs under way keep older code. */
  replace(code: Code): Promise<number>;
  /** What the workers are doing now. */
  readonly work: WorkInHand;
  /** Connections that newer code has opened; when the workers have ended. */
  close(): Promise<void>;
}

/** `tell` hears what tools said that failed. */
export function liveCode(first: Code, tell: (line: string) => void = () => undefined): LiveCode {
  const codes = codesOfRuns(first);
  const workers: RunningWorker[] = [];
  const opened: Connectors[] = [];
  const work = workInHand();
  const failed = failedCalls(tell);

  const connectorsOf = ({ config }: Code, { store }: ActivityDeps): Connectors => {
    const made = createConnectors({ ...config, tokens: store });
    opened.push(made);
    return made;
  };

  return {
    work,
    activities(deps) {
      const made = new Map<Code, Activities>();
      const activitiesOf = (code: Code): Activities => {
        const known = made.get(code);
        if (known !== undefined) return known;
        const isOwn = code.config === deps.config;
        const own = createActivities(
          isOwn ? deps : { ...deps, ...code, connectors: connectorsOf(code, deps) },
        );
        made.set(code, own);
        forgetUnused(made, new Set(codes.served()));
        return own;
      };
      const perform = async (kind: ActivityKind, input: RunInput): Promise<unknown> => {
        const at = { kind, input };
        const attempt = (code: Code): Promise<unknown> => activitiesOf(code)[kind](input as never);
        return work.during(at, () =>
          failed.during(at, () => codes.perform({ kind, input }, attempt)),
        );
      };
      const kinds = Object.keys(createActivities(deps)) as ActivityKind[];
      // Each name performs the activity of its own kind, which is what makes the cast true.
      return Object.fromEntries(
        kinds.map((kind) => [kind, (input: RunInput) => perform(kind, input)]),
      ) as unknown as Activities;
    },
    join: (worker) => void workers.push(worker),
    async replace(code) {
      codes.replace(code);
      const served = namesOf(codes.served());
      await Promise.all(workers.map((worker) => worker.announce(served)));
      return codes.runsUnderWay();
    },
    async close() {
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}

/** Runs may begin with the newest agents alone; what older code has is there for runs that need it. */
function namesOf([newest, ...older]: Served<Code>): CodeNames {
  const { agents, tools, hooks, providers: names } = namesIn(newest);
  const others = older.map(namesIn);
  const all = (own: readonly string[], of: (names: CodeNames) => readonly string[]) => [
    ...new Set([...own, ...others.flatMap(of)]),
  ];
  return {
    agents,
    tools: all(tools, (code) => code.tools),
    hooks: all(hooks, (code) => code.hooks),
    providers: all(names, (code) => code.providers),
  };
}

function namesIn({ config, providers }: Code): CodeNames {
  return codeServed(config, providers.keys());
}

function forgetUnused(made: Map<Code, Activities>, used: ReadonlySet<Code>): void {
  for (const code of made.keys()) if (!used.has(code)) made.delete(code);
}
