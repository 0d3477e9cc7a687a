/** What workers of this process are doing: for whoever ends them, and waits. */
import { durationText, inert } from '../render/index.js';
import { workTimes } from './work-times.js';

export interface Job {
  readonly kind: string;
  readonly input: { readonly run: { readonly runId: string } };
}

export interface WorkInHand {
  during<T>(job: Job, work: () => Promise<T>): Promise<T>;
  /** Model calls, calls of tools and the like, the longest at work first: `issue_refund of run_1 (3 s)`. */
  shown(): readonly string[];
  /** Whether code of the project was at work then; of the last few times. `at`: ms since epoch. */
  ranCode(at: number): boolean;
  ranBriefly(at: number): boolean;
}

const SHOWN_MAX = 5;
const NAME_CHARS_MAX = 80;

const WORDS: Readonly<Record<string, string>> = {
  call_model: 'a model call',
  compact: 'a summary',
  run_hooks: 'hooks',
  run_check: 'a check',
  ask_judge: 'a judge',
  ask_supervisor: 'a supervisor',
  reconcile_tool: 'what became of a call',
};

/** What runs code of the project that may write files. */
const OF_PROJECT: ReadonlySet<string> = new Set([
  'execute_tool',
  'reconcile_tool',
  'run_hooks',
  'run_check',
]);

export function workInHand(clock: () => number = Date.now): WorkInHand {
  const jobs = new Map<Job, number>();
  const times = workTimes(clock);
  return {
    async during(job, work) {
      jobs.set(job, clock());
      const end = OF_PROJECT.has(job.kind) ? times.begin() : undefined;
      try {
        return await work();
      } finally {
        jobs.delete(job);
        end?.();
      }
    },
    ranCode: (at) => times.covers(at),
    ranBriefly: (at) => times.coversBriefly(at),
    shown() {
      const named = [...jobs].flatMap(([job, since]) => {
        const what = whatOf(job);
        if (what === undefined) return [];
        const runId = inert(job.input.run.runId, NAME_CHARS_MAX);
        return [`${what} of ${runId} (${durationText(clock() - since)})`];
      });
      const more = named.length - SHOWN_MAX;
      return more > 0 ? [...named.slice(0, SHOWN_MAX), `${more} more`] : named;
    },
  };
}

/** Of a tool its name; undefined: over in a moment, and nobody waits for it. */
function whatOf({ kind, input }: Job): string | undefined {
  if (kind !== 'execute_tool') return WORDS[kind];
  const { call } = input as { readonly call?: { readonly tool?: unknown } };
  const { tool } = call ?? {};
  return typeof tool === 'string' ? inert(tool, NAME_CHARS_MAX) : 'a tool';
}
