/** The domains that can be played. */
import { AIRLINE } from '../airline/tools.js';
import { RETAIL } from '../retail/tools.js';
import type { Domain } from './domain.js';

export const DOMAINS: readonly Domain[] = [RETAIL, AIRLINE];

export const DOMAIN_NAMES: readonly string[] = DOMAINS.map((domain) => domain.name);

/** The domain of this name; names are checked where they come in. */
export function domainNamed(name: string): Domain {
  const domain = DOMAINS.find((entry) => entry.name === name);
  if (domain === undefined) throw new RangeError(`there is no domain ${name}`);
  return domain;
}
