import { appendFileSync } from 'node:fs';
import {
  findServer,
  startServer,
  type FindServerOptions,
  type StartServerOptions,
} from '../../devserver/index.js';

/*
 * Run as a process of its own by the tests: `find <options>` prints what was found, and writes what is told meanwhile
 * to a file; `start <options>` starts a server, prints its handle and waits for a signal without handling any.
 */
async function main(): Promise<void> {
  const [command, json = '{}'] = process.argv.slice(2);
  if (command === 'find') {
    const { toldIn, ...options } = JSON.parse(json) as FindServerOptions & {
      readonly toldIn: string;
    };
    const found = await findServer({
      ...options,
      onProgress: ({ message }) => appendFileSync(toldIn, `${message}\n`),
    });
    console.log(JSON.stringify({ found }));
    return;
  }
  const { address, pid } = await startServer(JSON.parse(json) as StartServerOptions);
  console.log(JSON.stringify({ address, pid }));
}

main().catch((error: unknown) => {
  console.log(JSON.stringify({ error: String(error), code: (error as { code?: unknown }).code }));
  process.exitCode = 1;
});
