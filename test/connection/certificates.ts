/**
 * Certificates made on the fly by openssl: an authority, and what it signs.
 * Where openssl is absent, tests that need certificates say so and are left out, except in CI.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Issued {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface Authority {
  readonly caFile: string;
  readonly ca: Buffer;
  issue(wanted: { readonly name: string; readonly hosts?: string; readonly days?: number }): Issued;
  remove(): void;
}

const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** `describe`, or its skipping form with the reason printed. */
export function describeWithCertificates(title: string, tests: () => void): void {
  if (hasOpenssl()) return describe(title, tests);
  const reason = 'openssl is not on this machine: tests of TLS cannot make certificates';
  if (process.env['CI'] === 'true') throw new Error(reason);
  describe.skip(`${title} (left out: ${reason})`, tests);
}

export function makeAuthority(name = 'Holdfast test authority'): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-certificates-'));
  const at = (file: string): string => join(folder, file);
  const [caFile, caKey] = [at('ca.pem'), at('ca.key')];
  openssl(['req', '-x509', ...CURVE, '-keyout', caKey, '-out', caFile, '-days', '2', ...on(name)]);
  let issued = 0;
  return {
    caFile,
    ca: readFileSync(caFile),
    issue({ name: subject, hosts, days = 1 }) {
      const base = `${(issued += 1)}-${subject.replaceAll(/\W/g, '-')}`;
      const [certFile, keyFile, request] = [
        at(`${base}.pem`),
        at(`${base}.key`),
        at(`${base}.csr`),
      ];
      openssl(['req', ...CURVE, '-keyout', keyFile, '-out', request, ...on(subject)]);
      const extensions = at(`${base}.ext`);
      // An extension makes a certificate of version 3, which is the only one that clients show.
      const name = hosts === undefined ? '' : `\nsubjectAltName=${hosts}`;
      writeFileSync(extensions, `basicConstraints=CA:FALSE${name}`);
      const signedBy = ['-CA', caFile, '-CAkey', caKey, '-CAcreateserial', '-extfile', extensions];
      openssl(['x509', '-req', '-in', request, ...signedBy, '-days', `${days}`, '-out', certFile]);
      return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function on(name: string): readonly string[] {
  return ['-subj', `/CN=${name}`];
}

function openssl(words: readonly string[]): void {
  execFileSync('openssl', [...words], { stdio: 'pipe' });
}

function hasOpenssl(): boolean {
  try {
    openssl(['version']);
    return true;
  } catch {
    return false;
  }
}
