/** One line about work that takes long enough to be watched. */
export interface Progress {
  readonly step: 'wait' | 'download' | 'build';
  readonly message: string;
  /** Since the step began. */
  readonly elapsedMs: number;
}

export type OnProgress = (progress: Progress) => void;

/** Own work is told often, because it changes; of a wait for somebody else there is nothing new to say. */
const BEAT_MS: { readonly [step in Progress['step']]: number } = {
  wait: 60_000,
  download: 2_000,
  build: 2_000,
};

/** Reports a step at once and then again and again until stopped, so that silence never looks like a hang. */
export interface StepReport {
  /** What is said from the next beat on. */
  say(message: string): void;
  stop(): void;
}

/** Starts the reports of one step. */
export function reportStep(
  step: Progress['step'],
  message: string,
  onProgress: OnProgress | undefined,
): StepReport {
  const startedAt = performance.now();
  let current = message;
  const beat = (): void => {
    onProgress?.({ step, message: current, elapsedMs: Math.round(performance.now() - startedAt) });
  };
  beat();
  const timer = setInterval(beat, BEAT_MS[step]);
  return {
    say: (next) => {
      current = next;
    },
    stop: () => clearInterval(timer),
  };
}
