/** Reads tau-bench trajectories: a list of `{task_id, trial, traj}` with OpenAI chat messages. */
import { z } from 'zod';
import { HoldfastError } from '../core/errors.js';
import { checked } from './data-file.js';
import {
  CALLS_MAX,
  MESSAGES_MAX,
  RUNS_MAX,
  argumentsSchema,
  idSchema,
  textSchema,
} from './recording-limits.js';
import type { RawCall, RawMessage, RawRun } from './recording-turns.js';

const callSchema = z.object({
  id: idSchema,
  function: z.object({ name: z.string().min(1).max(200), arguments: textSchema }),
});

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: textSchema }),
  z.object({ role: z.literal('user'), content: textSchema.nullish() }),
  z.object({
    role: z.literal('assistant'),
    content: textSchema.nullish(),
    tool_calls: z.array(callSchema).max(CALLS_MAX).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: idSchema, content: textSchema.nullish() }),
]);

const fileSchema = z
  .array(
    z.object({
      task_id: z.union([z.string().max(500), z.number()]),
      trial: z.number().int().nonnegative().nullish(),
      traj: z.array(messageSchema).max(MESSAGES_MAX),
    }),
  )
  .max(RUNS_MAX);

/** Whether the data has the shape of this format at its top. */
export function isTauBenchFile(data: unknown): boolean {
  return Array.isArray(data);
}

/** The runs of a tau-bench trajectories file. */
export function readTauBench(data: unknown): RawRun[] {
  return checked(fileSchema, data, 'a tau-bench trajectories file').map((run, index) => {
    const system = run.traj.find((message) => message.role === 'system');
    return {
      taskId: String(run.task_id),
      trial: run.trial ?? 0,
      ...(system === undefined ? {} : { systemPrompt: system.content ?? '' }),
      messages: run.traj.flatMap((message) => rawMessage(message, index)),
    };
  });
}

function rawMessage(message: z.infer<typeof messageSchema>, run: number): RawMessage[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return [{ role: 'user', text: message.content ?? '' }];
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map((call) => rawCall(call, run));
      return [{ role: 'assistant', text: message.content ?? null, calls }];
    }
    case 'tool': {
      const content = message.content ?? '';
      // The format has no error flag; the tools of this benchmark begin their refusals like this.
      const error = /^(Error: |Unknown action )/.test(content);
      return [{ role: 'tool', id: message.tool_call_id, content, error, byUser: false }];
    }
  }
}

function rawCall(call: z.infer<typeof callSchema>, run: number): RawCall {
  const { name } = call.function;
  let parsed: unknown;
  try {
    parsed = JSON.parse(call.function.arguments);
  } catch (cause) {
    throw new HoldfastError('InvalidTask', `Run ${run}: arguments of ${name} are not JSON.`, {
      cause,
    });
  }
  return { id: call.id, name, args: checked(argumentsSchema, parsed, `arguments of ${name}`) };
}
