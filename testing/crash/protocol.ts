/**
 * What a test and its worker process say to each other, one line of JSON each: commands on the worker's
 * standard input, reports on its standard output. A byte on RELEASE_FD lets a worker that stands still go on.
 */
import { z } from 'zod';
import { CRASH_BOUNDARIES } from './boundary.js';

export const RELEASE_FD = 3;

const point = z.object({
  boundary: z.enum(CRASH_BOUNDARIES),
  runId: z.string().optional(),
  nth: z.number().int().nonnegative().optional(),
});

const fault = z.object({
  completion: z.enum(['drop', 'duplicate']),
  of: z.string().optional(),
  runId: z.string().optional(),
  nth: z.number().int().nonnegative().optional(),
});

const commandSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stand_still'), id: z.number(), point }),
  z.object({ type: z.literal('break_completion'), id: z.number(), fault }),
]);

export type Command = z.infer<typeof commandSchema>;

const reportSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('serving'), taskQueue: z.string() }),
  /** The command with this id is known. */
  z.object({ type: z.literal('heard'), id: z.number() }),
  /** It has come true: the worker stands still, or the report was broken. */
  z.object({ type: z.literal('reached'), id: z.number(), runId: z.string() }),
]);

export type Report = z.infer<typeof reportSchema>;

export function parseCommand(line: string): Command {
  return commandSchema.parse(JSON.parse(line));
}

/** Undefined for a line that is no report: a worker's code may print what it wants. */
export function parseReport(line: string): Report | undefined {
  try {
    return reportSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
