/** A tool that lists what the desk has, a page at a time. */
import { z } from 'zod';
import { cursor, id, limit } from './input.js';
import { READS, serverTool, taken, type ServerTool } from './tool.js';

export interface ListTool extends Pick<ServerTool, 'name' | 'title' | 'description'> {
  /** Of the desk. */
  readonly path: string;
  /** That it may be narrowed to. */
  readonly statuses: readonly [string, ...string[]];
}

export function pagedList({ path, statuses, ...told }: ListTool): ServerTool {
  return serverTool({
    ...told,
    access: 'read',
    input: z.strictObject({
      status: z.enum(statuses).optional(),
      agent: id.optional(),
      limit,
      cursor,
    }),
    hints: READS,
    run: async ({ desk }, args) => taken(await desk.get(path, args)),
  });
}
