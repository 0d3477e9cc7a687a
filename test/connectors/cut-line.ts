/** A line to a server of this machine that can be cut, and that counts the calls of tools which go through it. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CutLine {
  readonly port: number;
  /** Requests that call a tool, as they went through. */
  calls(): number;
  /** Every connection, at once; new ones go through. */
  cut(): void;
  /** The same, after so many bytes of what the server says to the next call of a tool. */
  cutInAnswer(bytes: number): void;
  close(): Promise<void>;
}

const CALL = /"method":"tools\/call"/g;

export async function openLine(port: number): Promise<CutLine> {
  const open = new Set<Socket>();
  let calls = 0;
  /** Of answers, until the line is cut; undefined: it stays. */
  let left: number | undefined;
  let waits = false;
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
      const more = count(sent) - before;
      calls += more;
      if (more > 0) waits = false;
    });
    far.on('data', (bytes: Buffer) => {
      if (left === undefined || waits) return;
      left -= bytes.length;
      if (left > 0) return;
      left = undefined;
      cut();
    });
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    calls: () => calls,
    cut,
    cutInAnswer(bytes) {
      left = bytes;
      waits = true;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function count(text: string): number {
  return text.match(CALL)?.length ?? 0;
}
