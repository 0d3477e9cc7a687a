/** The task of a start, checked where the run is opened: it comes from outside (LC-18, G67). */
import { z } from 'zod';
import { HoldfastError } from '../core/errors.js';
import type { Task } from '../core/task.js';

const LIST_MAX = 100;
const LINE_CHARS_MAX = 2_000;
const GOAL_CHARS_MAX = 200_000;
const NAME_CHARS_MAX = 128;
/** All of them together: they travel inline. */
const CONSTRAINTS_CHARS_MAX = 8_000;
const METADATA_CHARS_MAX = 16_384;

const line = z.string().trim().min(1, 'must not be blank').max(LINE_CHARS_MAX);
const lines = z.array(line).max(LIST_MAX);
const name = z.string().min(1).max(NAME_CHARS_MAX);

const schema = z.object({
  goal: z
    .string()
    .max(GOAL_CHARS_MAX)
    .refine((goal) => goal.trim() !== '', 'must not be blank'),
  taskId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'must be 1 to 128 of A-Z a-z 0-9 . _ : -')
    .optional(),
  traceId: name.optional(),
  caller: name.optional(),
  constraints: lines
    .refine((all) => all.join('').length <= CONSTRAINTS_CHARS_MAX, 'are too long together')
    .optional(),
  allowedActions: lines.optional(),
  forbiddenActions: lines.optional(),
  denied: z.string().max(LINE_CHARS_MAX).optional(),
  requiredEvidence: z
    .array(z.object({ id: name, satisfiedBy: name }))
    .max(LIST_MAX)
    .optional(),
  metadata: z
    .record(z.string(), z.json())
    .refine((all) => JSON.stringify(all).length <= METADATA_CHARS_MAX, 'is too large')
    .optional(),
} satisfies Record<keyof Task, z.ZodType>);

/** Throws InvalidTask for a task that no run can work on. */
export function checkTask(task: unknown): void {
  const result = schema.safeParse(task);
  if (result.success) return;
  const issue = result.error.issues[0];
  const path = ['task', ...(issue?.path ?? [])].join('.');
  throw new HoldfastError(
    'InvalidTask',
    `${path} cannot be used: ${issue?.message ?? 'not valid'}.`,
    { hint: `Correct ${path} and start the run again.` },
  );
}
