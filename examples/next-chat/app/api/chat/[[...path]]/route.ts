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
    // On your own machine everybody is one person. Anywhere else: `authorize: (request) => …`.
    insecure: true,
    // The person confirms what their own messages led to. Leave it out where somebody else decides.
    ownDecisions: true,
  });
}

async function chat(request: Request): Promise<Response> {
  handler ??= open();
  return (await handler)(request);
}

export { chat as GET, chat as POST };
export const dynamic = 'force-dynamic';
