/**
 * Keeps answers of queries until no local activity runs. Temporal's core completes a workflow task as soon as there is an
 * answer: in the middle of a quick read, what comes next would be heard by the run at its own time, and by each replay with
 * the end of the read. An answer is late by as much as a row of quick reads takes (core/call/quick.ts).
 * A query with a task of its own, which the server handed over just before the run's task began, takes the place of that
 * task in the core: what the activity comes to would be told to a later task, whose history says otherwise. Failing here
 * costs that query and the run's place in the cache; the server gives the run's task to a worker again when its time is up.
 * Invariant: an answer says how things stood when the query came, and goes out once.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';

/** What is looked at of a command, as the SDK's protocol has it. */
export interface Command {
  readonly scheduleLocalActivity?: { readonly seq?: number | null } | null;
  readonly respondToQuery?: { readonly queryId?: string | null } | null;
}

/** What is looked at of what an activation brings. */
export interface Job {
  readonly resolveActivity?: {
    readonly seq?: number | null;
    readonly isLocal?: boolean | null;
  } | null;
  readonly queryWorkflow?: { readonly queryId?: string | null } | null;
}

/** Part of what a query is told; whoever asked knows by it that asking again helps. */
export const TASK_REPLACED = 'the query has taken the place of a workflow task';

/** Id of a query that has a workflow task of its own, which ends with nothing but an answer. */
const OWN_TASK = 'legacy_query';

export interface Answers<C extends Command> {
  /** What an activation brings. Throws for a query with a task of its own beside a local activity. */
  heard(jobs: readonly Job[]): void;
  /** Of the commands of an activation those that go out, with the answers that were kept until now. */
  sent(commands: readonly C[]): C[];
}

/** For one run. */
export function answersBehindReads<C extends Command>(): Answers<C> {
  const running = new Set<number>();
  let kept: C[] = [];
  return {
    heard(jobs) {
      for (const { resolveActivity: ended, queryWorkflow: asked } of jobs) {
        if (ended?.isLocal === true) running.delete(ended.seq ?? 0);
        if (running.size > 0 && asked?.queryId === OWN_TASK) {
          throw new Error(`Not now: ${TASK_REPLACED}.`);
        }
      }
    },
    sent(commands) {
      for (const { scheduleLocalActivity: begun } of commands) {
        if (begun != null) running.add(begun.seq ?? 0);
      }
      const all = [...commands, ...kept];
      kept = running.size === 0 ? [] : all.filter(isKept);
      return running.size === 0 ? all : all.filter((command) => !isKept(command));
    },
  };
}

function isKept({ respondToQuery: answer }: Command): boolean {
  return answer != null;
}

export function interceptors(): WorkflowInterceptors {
  const answers = answersBehindReads();
  return {
    internals: [
      {
        activate(input, next) {
          answers.heard(input.activation.jobs ?? []);
          next(input);
        },
        concludeActivation(input, next) {
          const { commands } = next(input);
          return { commands: answers.sent(commands) };
        },
      },
    ],
  };
}
