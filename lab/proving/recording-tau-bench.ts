/** Reads tau-bench trajectories: a list of `{task_id, trial, traj}` with OpenAI chat messages. */
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import { checked } from './data-file.js';
import {
  CALLS_MAX,
  MESSAGES_MAX,
  RUNS_MAX,
  argumentsSchema,
  idSchema,
  isRefusal,
  textSchema,
} from './recording-limits.js';
import type { RawCall, RawMessage, RawRun } from './recording-turns.js';

const callSchema = z.object({
  id: idSchema,
  function: z.object({
    name: z.string().min(1).max(200),
    arguments: z.union([z.string(), argumentsSchema]).nullish(),
  }),
});

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content: textSchema.nullish() }),
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
    const system = run.traj.find(({ role }) => role === 'system' || role === 'developer');
    return {
      taskId: String(run.task_id),
      trial: run.trial ?? 0,
      ...(system === undefined ? {} : { systemPrompt: system.content ?? '' }),
      messages: run.traj.flatMap((message, at) => rawMessage(message, { run: index, at })),
    };
  });
}

/** Where something stands in the file. */
interface Place {
  readonly run: number;
  readonly at: number;
}

function rawMessage(message: z.infer<typeof messageSchema>, place: Place): RawMessage[] {
  const { at } = place;
  switch (message.role) {
    case 'system':
    case 'developer':
      return [];
    case 'user':
      return [{ role: 'user', at, text: message.content ?? '' }];
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map((call) => rawCall(call, place));
      return [{ role: 'assistant', at, text: message.content ?? null, calls }];
    }
    case 'tool': {
      const content = message.content ?? '';
      const error = isRefusal(content);
      return [{ role: 'tool', at, id: message.tool_call_id, content, error, byUser: false }];
    }
  }
}

function rawCall(call: z.infer<typeof callSchema>, { run, at }: Place): RawCall {
  const { name, arguments: given } = call.function;
  const what = `arguments of ${name} in message ${at} of run ${run}`;
  return { id: call.id, name, args: checked(argumentsSchema, parsedArguments(given, what), what) };
}

/** A call without arguments has an object, a null or no text at all, by who recorded it. */
function parsedArguments(given: unknown, what: string): unknown {
  if (typeof given !== 'string') return given ?? {};
  if (given.trim() === '') return {};
  try {
    return (JSON.parse(given) as unknown) ?? {};
  } catch (cause) {
    throw new HoldfastError('InvalidTask', `The ${what} are not JSON.`, { cause });
  }
}
