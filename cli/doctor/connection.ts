/** How the named server is reached: in clear text or over TLS, as whom, and for how long still. */
import { isLoopback } from '../../authoring/index.js';
import { dayOf, endOfCertificate, tlsOf } from '../../connection/index.js';
import type { Session } from '../session.js';
import { guarded, ok, warning, type Check } from './check.js';

const SOON_MS = 14 * 86_400_000;

/** Nothing for the embedded server, which is in clear text on this machine. */
export async function checkConnection(
  { named, place }: Pick<Session, 'named' | 'place'>,
  now: number = Date.now(),
): Promise<readonly Check[]> {
  return guarded({
    name: 'connection',
    look: async () => {
      // A configuration that cannot be loaded is told elsewhere.
      const { isNamed, address, ...reach } = await named().catch(() => place.reach());
      if (!isNamed) return [];
      const tls = tlsOf(reach);
      const key = reach.apiKey === undefined ? '' : ', with an API key';
      if (tls === undefined) {
        if (isLoopback(address.replace(/:\d+$/, ''))) return [];
        return [
          warning(
            'connection',
            `${address} in clear text`,
            'Everybody on the way can read and change it. Set HOLDFAST_TLS=true (docs/operate/cluster.md in the package holdfast).',
          ),
        ];
      }
      const end = endOfCertificate(tls);
      if (end === undefined) return [ok('connection', `${address} over TLS${key}`)];
      const found = `${address} over TLS with a certificate until ${dayOf(end)}${key}`;
      if (end - now > SOON_MS) return [ok('connection', found)];
      const mend = 'Put a new one in its place; workers take it up without a restart.';
      return [warning('connection', found, mend)];
    },
  });
}
