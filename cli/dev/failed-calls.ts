/**
 * What tools of the project said when they failed: for the terminal of whoever writes them. A run itself hears no more of a
 * call that may have taken effect than that nobody knows.
 * Invariant: what one call says again is told once.
 */
import type { ExecuteToolInput, ExecuteToolOutput } from '../../core/state/effect.js';
import { inert } from '../render/index.js';
import type { Job } from './work-in-hand.js';

export interface FailedCalls {
  /** Hears how the job ends, where it is a call of a tool. */
  during<T>(job: Job, work: () => Promise<T>): Promise<T>;
  heard(input: unknown, output: unknown): void;
  /** The attempt itself failed: the call is tried again, or looked into. */
  threw(input: unknown, error: unknown): void;
}

const NAME_CHARS_MAX = 80;
const MESSAGE_CHARS_MAX = 500;
const TOLD_MAX = 1_000;
const IN_DOUBT =
  'Whether the call took effect is not known: the probe of the tool is asked, or a person. A ToolError says that nothing happened.';

/** Codes of failures that are the tool's own. */
const OWN: ReadonlySet<string> = new Set(['execution_error', 'malformed_result']);

export function failedCalls(tell: (line: string) => void): FailedCalls {
  const told = new Set<string>();
  const say = (input: unknown, how: string): void => {
    const { run, call } = input as Pick<ExecuteToolInput, 'run' | 'call'>;
    const what = `${inert(call.tool, NAME_CHARS_MAX)} of ${inert(run.runId, NAME_CHARS_MAX)}`;
    const line = `${what} ${how}`;
    if (told.has(line) || told.size >= TOLD_MAX) return;
    told.add(line);
    tell(line);
  };
  const self: FailedCalls = {
    async during({ kind, input }, work) {
      if (kind !== 'execute_tool') return work();
      try {
        const output = await work();
        self.heard(input, output);
        return output;
      } catch (error) {
        self.threw(input, error);
        throw error;
      }
    },
    heard(input, output) {
      const { outcome } = output as Pick<ExecuteToolOutput, 'outcome'>;
      if (outcome.kind === 'ambiguous' && outcome.aborted !== true) {
        say(input, `failed: “${inert(outcome.message, MESSAGE_CHARS_MAX)}”. ${IN_DOUBT}`);
      }
      if (outcome.kind === 'error' && OWN.has(outcome.code)) {
        say(input, `failed: “${inert(outcome.message, MESSAGE_CHARS_MAX)}”.`);
      }
    },
    threw(input, error) {
      const message = error instanceof Error ? error.message : String(error);
      say(input, `did not end: “${inert(message, MESSAGE_CHARS_MAX)}”.`);
    },
  };
  return self;
}
