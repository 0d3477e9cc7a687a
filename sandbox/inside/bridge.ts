/** The one way out of a sandbox with named hosts: a port of its loopback leads to the proxy's socket. */
import { connect, createServer, type Server } from 'node:net';

export function startBridge({
  socket,
  port,
}: {
  readonly socket: string;
  readonly port: number;
}): Promise<Server> {
  const server = createServer((inner) => {
    const outer = connect(socket);
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server));
  });
}
