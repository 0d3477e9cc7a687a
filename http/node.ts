/** The handler behind Node's own servers, and what is made of them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { ChatHandler } from './handler.js';

/** For `http.createServer`, Express and Fastify's raw requests. Mount it before anything that reads bodies. */
export function nodeListener(
  handler: ChatHandler,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  const listen = getRequestListener((request) => handler(request), {
    overrideGlobalObjects: false,
  });
  return async (incoming, outgoing) => {
    await listen(incoming, outgoing);
  };
}
