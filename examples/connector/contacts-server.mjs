/**
 * A server of tools (MCP) on standard input and output: contacts in memory. Any server will do; this one shows what Holdfast reads from
 * annotations, and that a server's own word about effects counts only where the configuration trusts the server.
 */
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const contacts = new Map([
  ['C-1', { name: 'Mia Adler', mail: 'mia@example.com' }],
  ['C-2', { name: 'M. Adler', mail: 'mia@example.com' }],
]);

const object = (...fields) => ({
  type: 'object',
  properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
  required: fields,
  additionalProperties: false,
});

const TOOLS = [
  {
    name: 'find_contacts',
    description: 'Contacts with this address of mail.',
    inputSchema: object('mail'),
    annotations: { readOnlyHint: true },
    run: ({ mail }) => [...contacts].filter(([, one]) => one.mail === mail),
  },
  {
    name: 'merge_contacts',
    description: 'Makes one contact of two. Cannot be undone.',
    inputSchema: object('keep', 'drop'),
    annotations: { destructiveHint: true },
    run: ({ keep, drop }) => ({ kept: keep, dropped: contacts.delete(drop) ? drop : null }),
  },
];

function contactsServer() {
  const server = new Server({ name: 'contacts', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS.map((tool) => ({ ...tool, run: undefined })),
  }));
  server.setRequestHandler('tools/call', ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (tool === undefined) throw new Error(`There is no tool ${params.name}.`);
    const result = tool.run(params.arguments ?? {});
    return { content: [{ type: 'text', text: JSON.stringify(result) }] };
  });
  return server;
}

serveStdio(contactsServer);
