/** The handler behind Node's own servers, and what is made of them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { trustedProxies } from '../console/http/remote-address.js';
import { fromElsewhere } from './caller.js';
import type { ChatHandler } from './handler.js';

const LOOPBACK = trustedProxies(['127.0.0.0/8', '::1']);

/** For `http.createServer`, Express and Fastify's raw requests. Mount it before anything that reads bodies. */
export function nodeListener(
  handler: ChatHandler,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const isLocal = LOOPBACK.has(incoming.socket.remoteAddress ?? '');
    const answer = (request: Request): Promise<Response> => {
      // What a request calls its host is the sender's word; where its connection comes from is not.
      if (!isLocal) fromElsewhere.add(request);
      return handler(request);
    };
    const listen = getRequestListener(answer, { overrideGlobalObjects: false });
    await listen(incoming, outgoing);
  };
}
