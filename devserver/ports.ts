import { connect, createServer } from 'node:net';
import { HoldfastError } from '../core/state/errors.js';
import { holderOf, holderText } from './port-holder.js';

/** The embedded server listens here only: it has no authentication. */
export const LOOPBACK = '127.0.0.1';

/** A loopback port that is free now. */
export async function freePort(): Promise<number> {
  return listenOnce(0);
}

export async function isPortFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

/** Something listens there: what is forbidden, or no port of this machine, is not taken. */
export async function isPortTaken(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'EADDRINUSE',
  );
}

/** Fails with PortTaken when something listens on the loopback port; `option` chooses another one. */
export async function assertPortFree(port: number, purpose: string, option: string): Promise<void> {
  try {
    await listenOnce(port);
  } catch (error) {
    const holder = await holderOf(port);
    const reason = error instanceof Error ? error.message : String(error);
    const why =
      holder === undefined ? `cannot be used (${reason})` : `is taken by ${holderText(holder)}`;
    throw new HoldfastError(
      'PortTaken',
      `Port ${port} of ${LOOPBACK}, wanted for ${purpose}, ${why}.`,
      {
        hint: `End the program that listens on port ${port}, or choose another port with ${option} (0 takes a free one). \`holdfast doctor\` checks every port.`,
        details: { port, purpose },
        cause: error,
      },
    );
  }
}

/** Whether something accepts connections at host:port within the time. */
export function answersAt(address: string, timeoutMs: number): Promise<boolean> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(colon + 1));
  if (colon < 1 || !Number.isInteger(port) || port < 1 || port > 65_535) {
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (answered: boolean): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(answered);
    };
    const limit = setTimeout(() => settle(false), timeoutMs);
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const bound = server.address();
      server.close(() => {
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
      });
    });
  });
}
