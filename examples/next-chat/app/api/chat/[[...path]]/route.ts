import { connect, openStore } from 'holdfast';
import { chatHandler, type ChatHandler } from 'holdfast/http';

let handler: Promise<ChatHandler> | undefined;

async function open(): Promise<ChatHandler> {
  // The store of the workers: `holdfast dev` makes it in this folder.
  const store = await openStore({ file: '.holdfast/store.db' });
  const client = await connect({
    address: process.env['TEMPORAL_ADDRESS'] ?? 'localhost:7233',
    store,
  });
  return chatHandler({
    client,
    agent: 'support',
    authorize,
    // The person confirms what their own messages led to. Leave it out where somebody else decides.
    ownDecisions: true,
  });
}

/**
 * Next listens on this machine alone (`-H 127.0.0.1` in package.json), where everybody is one person. Anywhere else a cookie or
 * a token of the request says who sends it.
 */
function authorize(request: Request) {
  const host = request.headers.get('host') ?? '';
  return /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(host)
    ? { actor: { id: 'developer' } }
    : new Response('This chat is for its own machine.', { status: 403 });
}

async function chat(request: Request): Promise<Response> {
  // A server that is not there yet is tried again by the next request.
  handler ??= open().catch((error: unknown) => {
    handler = undefined;
    throw error;
  });
  return (await handler)(request);
}

export { chat as GET, chat as POST };
export const dynamic = 'force-dynamic';
