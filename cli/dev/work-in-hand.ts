/** What workers of this process are doing: for whoever ends them, and waits. */
import { durationText, inert } from '../render/index.js';

export interface Job {
  readonly kind: string;
  readonly input: { readonly run: { readonly runId: string } };
}

export interface WorkInHand {
  during<T>(job: Job, work: () => Promise<T>): Promise<T>;
  /** Model calls, calls of tools and the like, the longest at work first: `issue_refund of run_1 (3 s)`. */
  shown(): readonly string[];
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

export function workInHand(clock: () => number = Date.now): WorkInHand {
  const jobs = new Map<Job, number>();
  return {
    async during(job, work) {
      jobs.set(job, clock());
      try {
        return await work();
      } finally {
        jobs.delete(job);
      }
    },
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
