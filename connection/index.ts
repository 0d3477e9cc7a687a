/** How a Temporal server is reached: addresses, TLS, keys, and why it is not reached. */
export {
  credentialsOf,
  sdkTls,
  tlsOf,
  type Credentials,
  type Reach,
  type TlsMaterial,
} from './access.js';
export { checkMaterial, dayOf, endOfCertificate } from './check-material.js';
export { accessRefused, connectionFailure, refusalIn } from './diagnose.js';
export { readAccess, readPlace, type NamedPlace } from './read-access.js';
export { startRenewal, type Change } from './renewal.js';
