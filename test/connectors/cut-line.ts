/** A line to a server of this machine that can be cut, and that counts the calls of tools which go through it. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CutLine {
  readonly port: number;
  /** Requests that call a tool, as they went through. */
  calls(): number;
  /** Every connection, at once; new ones go through. */
  cut(): void;
  close(): Promise<void>;
}

const CALL = /"method":"tools\/call"/g;

export async function openLine(port: number): Promise<CutLine> {
  const open = new Set<Socket>();
  let calls = 0;
  const kept = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on('error', () => undefined).on('close', () => open.delete(socket));
  };
  const server = createServer((near) => {
    const far = kept(connect(port, '127.0.0.1'));
    let sent = '';
    kept(near).on('data', (bytes: Buffer) => {
      const before = count(sent);
      sent += bytes.toString('latin1');
      calls += count(sent) - before;
    });
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    calls: () => calls,
    cut,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function count(text: string): number {
  return text.match(CALL)?.length ?? 0;
}
