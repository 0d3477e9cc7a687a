/**
 * Tool names on the wire (G75). Registry names contain dots, vendors allow only letters, digits, `_` and
 * `-`: a dot becomes `__`. That alone is not reversible (`a.b` and `a__b`), so a manifest is checked as a
 * whole and the way back goes through it.
 */
import { HoldfastError } from '../core/state/errors.js';
import { wireNameOf as unchecked } from '../core/state/tool.js';

const WIRE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export interface WireNames {
  /** The wire name of a tool of this manifest. */
  toWire(name: string): string | undefined;
  /** The registry name behind a wire name; undefined for a name that the model made up. */
  fromWire(wireName: string): string | undefined;
}

export function isWireName(name: string): boolean {
  return WIRE_NAME.test(name);
}

/** The wire name of one tool; InvalidAgent when the name cannot be one. */
export function wireNameOf(name: string): string {
  const wireName = unchecked(name);
  if (isWireName(wireName)) return wireName;
  throw new HoldfastError('InvalidAgent', `Tool name ${shown(name)} cannot be sent to a model.`, {
    hint: 'Use 1 to 64 letters, digits, "_", "-" and "." (a dot counts as two).',
    details: { tool: name.slice(0, 200), wireName: wireName.slice(0, 200) },
  });
}

/** A name of the past that no tool has any more must still be acceptable. */
export function pastWireName(name: string): string {
  const wireName = unchecked(name);
  if (isWireName(wireName)) return wireName;
  return wireName.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown';
}

/** The names of one manifest, both ways; InvalidAgent when two tools would share a wire name. */
export function wireNames(names: readonly string[]): WireNames {
  const wireOf = new Map<string, string>();
  const nameOf = new Map<string, string>();
  for (const name of new Set(names)) {
    const wireName = wireNameOf(name);
    const other = nameOf.get(wireName);
    if (other !== undefined) throw collision([other, name], wireName);
    wireOf.set(name, wireName);
    nameOf.set(wireName, name);
  }
  return {
    toWire: (name) => wireOf.get(name),
    fromWire: (wireName) => nameOf.get(wireName),
  };
}

function collision(tools: readonly [string, string], wireName: string): HoldfastError {
  const [first, second] = tools;
  return new HoldfastError(
    'InvalidAgent',
    `Tools ${shown(first)} and ${shown(second)} have the same wire name ${shown(wireName)}.`,
    { hint: 'Rename one of them.', details: { tools, wireName } },
  );
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
