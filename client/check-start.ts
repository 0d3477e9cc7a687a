/**
 * What a caller wants to start, checked before anything is sent (design §12). Stricter than the worker's own
 * check: a misspelt field is an error here, because nobody would ever see it ignored.
 */
import { z } from 'zod';
import { parseBudget, parseSettings } from '../authoring/limits.js';
import { HoldfastError } from '../core/errors.js';
import type { BudgetOverrides, SettingsOverrides, StartInput, Task } from '../core/task.js';

const LIST_MAX = 100;
const LINE_CHARS_MAX = 2_000;
const GOAL_CHARS_MAX = 200_000;
const NAME_CHARS_MAX = 128;
const METADATA_CHARS_MAX = 16_384;
const PLACE = { code: 'InvalidTask', subject: 'The start' } as const;

const line = z.string().trim().min(1, 'must not be blank').max(LINE_CHARS_MAX);
const lines = z.array(line).max(LIST_MAX);
const name = z.string().trim().min(1, 'must not be blank').max(NAME_CHARS_MAX);

const taskSchema = z.strictObject({
  goal: z
    .string({ error: 'must be a text that says what to achieve' })
    .max(GOAL_CHARS_MAX)
    .refine((goal) => goal.trim() !== '', 'must not be blank'),
  taskId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'must be 1 to 128 of A-Z a-z 0-9 . _ : -')
    .optional(),
  traceId: name.optional(),
  caller: name.optional(),
  constraints: lines.optional(),
  allowedActions: lines.optional(),
  forbiddenActions: lines.optional(),
  denied: z.string().max(LINE_CHARS_MAX).optional(),
  requiredEvidence: z
    .array(z.strictObject({ id: name, satisfiedBy: name }))
    .max(LIST_MAX)
    .optional(),
  metadata: z
    .record(z.string(), z.json())
    .refine(
      (value) => JSON.stringify(value).length <= METADATA_CHARS_MAX,
      `must be JSON of at most ${METADATA_CHARS_MAX} characters`,
    )
    .optional(),
} satisfies Record<keyof Task, z.ZodType>);

/** What is asked to be started; a bare text is the goal. */
export interface StartRequest {
  readonly agent: string;
  readonly task: Task | string;
  readonly tenant?: string;
  readonly budget?: BudgetOverrides;
  readonly settings?: SettingsOverrides;
}

/** The argument of the workflow; throws InvalidTask that names the field. */
export function checkStart(request: StartRequest): StartInput {
  const { agent, tenant } = request;
  if (typeof agent !== 'string' || agent.trim() === '' || agent.length > 200) {
    throw new HoldfastError('InvalidTask', 'The start names no agent.', {
      hint: 'Give the name of an agent that your worker serves.',
    });
  }
  if (tenant !== undefined && !/^[A-Za-z0-9._-]{1,64}$/.test(tenant)) {
    throw new HoldfastError('InvalidTask', 'The tenant cannot be used.', {
      hint: 'Use 1 to 64 of the characters A-Z a-z 0-9 . _ -',
    });
  }
  return {
    v: 1,
    agent,
    task: checkedTask(request.task),
    ...(tenant !== undefined && { tenant }),
    ...(request.budget !== undefined && { budget: parseBudget(request.budget, PLACE) }),
    ...(request.settings !== undefined && { settings: parseSettings(request.settings, PLACE) }),
  };
}

function checkedTask(task: unknown): Task {
  const result = taskSchema.safeParse(typeof task === 'string' ? { goal: task } : task);
  if (result.success) return withoutAbsent(result.data) as Task;
  const issue = result.error.issues[0];
  const path = ['task', ...(issue?.path ?? [])].join('.');
  const why = issue?.code === 'unrecognized_keys' ? unknownKeys(issue.keys) : issue?.message;
  throw new HoldfastError('InvalidTask', `${path} cannot be used: ${why ?? 'it is not valid'}.`, {
    hint: `Correct ${path} and start again.`,
    details: { path },
  });
}

function unknownKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, 5).map((key) => `"${key.slice(0, 60)}"`);
  return `it has no field ${shown.join(', ')}; fields are ${Object.keys(taskSchema.shape).join(', ')}`;
}

function withoutAbsent(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
