/**
 * The dynamic configuration that Holdfast wants from a Temporal server, once, in both shapes:
 * flags for the embedded server and the file that a cluster mounts (devserver/dynamic-config.yaml).
 */

interface TunedSetting {
  readonly key: string;
  readonly value: number | boolean | string;
  readonly reason: string;
}

const TUNING: readonly TunedSetting[] = [
  {
    key: 'history.transferProcessorMaxPollRPS',
    value: 2000,
    reason: 'The default of 20 makes every dispatch of a task wait about 47 ms.',
  },
  {
    key: 'history.timerProcessorMaxPollRPS',
    value: 2000,
    reason: 'The same limit for timers and retries.',
  },
  {
    key: 'history.timerProcessorMaxTimeShift',
    value: '10ms',
    reason: 'The default of 1 s makes every timer under a second take a second.',
  },
  {
    key: 'system.enableActivityEagerExecution',
    value: true,
    reason: 'Hands an activity to the worker that asked for it; saves about 9 ms a turn.',
  },
  {
    key: 'history.workflowTaskRetryMaxInterval',
    value: '10s',
    reason:
      'A workflow task that was lost three times gets up to this much more than its 10 s before another worker gets it; by default up to 10 minutes more.',
  },
  {
    key: 'history.workflowIdReuseMinimalInterval',
    value: '50ms',
    reason:
      'By default the next segment of a run begins a second after the last one began at the earliest.',
  },
  {
    key: 'frontend.enableServerVersionCheck',
    value: false,
    reason: 'No calls to the outside.',
  },
];

const YAML_HEADER = [
  '# Dynamic configuration of the Temporal cluster, rendered from devserver/tuning.ts.',
  '# Change it there; a test compares the two.',
];

/** Arguments of `server start-dev`; it reads each value as JSON, so texts keep their quotes. */
export function tuningFlags(): readonly string[] {
  return TUNING.flatMap(({ key, value }) => [
    '--dynamic-config-value',
    `${key}=${JSON.stringify(value)}`,
  ]);
}

/** Text of devserver/dynamic-config.yaml. */
export function tuningYaml(): string {
  const entries = TUNING.flatMap(({ key, value, reason }) => [
    `# ${reason}`,
    `${key}:`,
    `  - value: ${String(value)}`,
  ]);
  return [...YAML_HEADER, ...entries, ''].join('\n');
}
