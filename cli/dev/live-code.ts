/**
 * The code that the workers of `holdfast dev` serve: the newest for runs that begin, for each run under way the one that it
 * began with.
 * Invariants: the activities of one run tree use one generation from its first activity here to its end; a generation
 * that no run uses is forgotten.
 */
import { createActivities, type ActivityDeps } from '../../activities/index.js';
import type { Config } from '../../authoring/index.js';
import { createConnectors, type Connectors } from '../../connectors/index.js';
import type { Activities, ActivityKind, RunRef } from '../../core/state/effect.js';
import type { Provider } from '../../providers/provider.js';
import type { CodeNames } from '../../store/served.js';
import { codeServed } from '../../worker/announcer.js';
import type { RunningWorker } from '../../worker/index.js';
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

/** Runs whose code is remembered; those beyond get the newest. */
const RUNS_MAX = 10_000;
/** Sub-agents and runs that were handed the task belong to the run above them; a cycle of a goal is a run of its own. */
const BELOW = /(?::[ah]\d+)+$/;

/** `tell` hears what tools said that failed. */
export function liveCode(first: Code, tell: (line: string) => void = () => undefined): LiveCode {
  let newest = first;
  const codeOf = new Map<string, Code>();
  const workers: RunningWorker[] = [];
  const opened: Connectors[] = [];
  const work = workInHand();
  const failed = failedCalls(tell);

  const codeFor = ({ runId }: RunRef): Code => {
    const root = runId.replace(BELOW, '');
    const code = codeOf.get(root) ?? newest;
    codeOf.set(root, code);
    if (codeOf.size > RUNS_MAX) codeOf.delete(codeOf.keys().next().value ?? root);
    return code;
  };

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
        forgetUnused(made, new Set([newest, ...codeOf.values()]));
        return own;
      };
      const perform = async (kind: ActivityKind, input: AnyInput): Promise<unknown> => {
        const { run } = input;
        const at = { kind, input };
        const output = await work.during(at, () =>
          failed.during<unknown>(at, () => activitiesOf(codeFor(run))[kind](input as never)),
        );
        if (kind === 'close_run' && !BELOW.test(run.runId)) codeOf.delete(run.runId);
        return output;
      };
      const kinds = Object.keys(createActivities(deps)) as ActivityKind[];
      // Each name performs the activity of its own kind, which is what makes the cast true.
      return Object.fromEntries(
        kinds.map((kind) => [kind, (input: AnyInput) => perform(kind, input)]),
      ) as unknown as Activities;
    },
    join: (worker) => void workers.push(worker),
    async replace(code) {
      newest = code;
      const served = namesOf(code, new Set([...codeOf.values()].filter((one) => one !== code)));
      await Promise.all(workers.map((worker) => worker.announce(served)));
      return codeOf.size;
    },
    async close() {
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}

interface AnyInput {
  readonly run: RunRef;
}

/** Runs may begin with the newest agents alone; what older code has is there for runs that need it. */
function namesOf({ config, providers }: Code, older: ReadonlySet<Code>): CodeNames {
  const { agents, tools, hooks, providers: names } = codeServed(config, providers.keys());
  const others = [...older].map((code) => codeServed(code.config, code.providers.keys()));
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

function forgetUnused(made: Map<Code, Activities>, used: ReadonlySet<Code>): void {
  for (const code of made.keys()) if (!used.has(code)) made.delete(code);
}
