/**
 * The library of gRPC gives the TLS of Node the server's address as its name, an IP address too, and Node warns of that
 * (DEP0123). Nobody who names a server by its IP can mend it, and the certificate is verified against the address.
 */
const NAMED_BY_IP = 'DEP0123';

/** Every other warning is printed as before. */
export function quietOnServerNames(
  host: Pick<NodeJS.Process, 'listeners' | 'removeAllListeners' | 'on'>,
): void {
  const printers = host.listeners('warning');
  host.removeAllListeners('warning');
  host.on('warning', (warning: Error & { readonly code?: string }) => {
    if (warning.code === NAMED_BY_IP) return;
    for (const print of printers) print(warning);
  });
}
