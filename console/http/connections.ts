/**
 * Who holds connections to the desk: an address has so many, and all together have so many.
 * Invariant: an idle connection never keeps out a new one. Where there is no room, the connection that has been
 * idle for longest goes: of the address that has too many, or of the address that has most. Only when all are at work
 * the new one is refused.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressGroup, type TrustedProxies } from './remote-address.js';

export interface ConnectionLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
}

interface Held {
  readonly group: string;
  /** Requests that are under way; streams of events among them. */
  busy: number;
}

export function limitConnections(
  server: Server,
  { connections, connectionsPerAddress }: ConnectionLimits,
  proxies: TrustedProxies,
): void {
  /** In the order of their last use, the longest idle first. */
  const held = new Map<Socket, Held>();
  const byGroup = new Map<string, Set<Socket>>();

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const group = addressGroup(address);
    const mine = byGroup.get(group) ?? new Set();
    byGroup.set(group, mine);
    const isFull = mine.size >= connectionsPerAddress && !proxies.has(address);
    if ((isFull && !makeRoom(mine)) || (held.size >= connections && !makeRoom(largest()))) {
      if (mine.size === 0) byGroup.delete(group);
      socket.destroy();
      return;
    }
    held.set(socket, { group, busy: 0 });
    mine.add(socket);
    socket.once('close', () => forget(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const one = held.get(socket);
    if (one === undefined) return;
    one.busy += 1;
    response.once('close', () => {
      one.busy -= 1;
      if (!held.delete(socket)) return;
      held.set(socket, one);
      // The order within its address is that of use as well.
      const mine = byGroup.get(one.group);
      if (mine?.delete(socket)) mine.add(socket);
    });
  });

  function makeRoom(among: Iterable<Socket>): boolean {
    for (const socket of among) {
      if ((held.get(socket)?.busy ?? 0) > 0) continue;
      forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  function largest(): Iterable<Socket> {
    let most: ReadonlySet<Socket> = new Set();
    for (const sockets of byGroup.values()) if (sockets.size > most.size) most = sockets;
    const isAllBusy = ![...most].some((socket) => held.get(socket)?.busy === 0);
    return isAllBusy ? [...held.keys()] : most;
  }

  function forget(socket: Socket): void {
    const one = held.get(socket);
    if (one === undefined) return;
    held.delete(socket);
    const mine = byGroup.get(one.group);
    mine?.delete(socket);
    if (mine?.size === 0) byGroup.delete(one.group);
  }
}
