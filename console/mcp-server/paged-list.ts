/** A tool that lists what the desk has, a page at a time. */
import { z } from 'zod';
import { STORED_STATUSES } from '../../core/state/view.js';
import { cursor, id, limit } from './input.js';
import { READS, serverTool, taken, type ServerTool } from './tool.js';

export interface ListTool extends Pick<ServerTool, 'name' | 'title' | 'description'> {
  /** Of the desk. */
  readonly path: string;
}

export function pagedList({ path, ...told }: ListTool): ServerTool {
  return serverTool({
    ...told,
    access: 'read',
    input: z.strictObject({
      status: z.enum(STORED_STATUSES).optional(),
      agent: id.optional(),
      limit,
      cursor,
    }),
    hints: READS,
    run: async ({ desk }, args) => taken(await desk.get(path, args)),
  });
}
