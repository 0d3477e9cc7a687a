/**
 * What a start may wish for where decisions must be proven.
 * Invariant: whoever starts such a run makes no question unnecessary that the configuration wants asked; a
 * start may only narrow what runs without a person's word.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { PermissionMode } from '../../core/state/permission-mode.js';
import { matchesName } from '../../core/state/policy.js';
import type { Settings } from '../../core/state/settings.js';
import type { SettingsOverrides } from '../../core/state/task.js';

const NAMES_SHOWN_MAX = 20;

/** How much runs without a person's word, from least to most. */
const WIDTH: { readonly [mode in PermissionMode]: number } = {
  plan: 0,
  dontAsk: 1,
  default: 2,
  acceptEdits: 3,
  bypassPermissions: 4,
};

/** `given`: what the configuration and the agent say. */
export function checkProof(given: Settings, wished: SettingsOverrides): void {
  if (!given.requireProof) return;
  if (wished.requireProof === false || wished.allowBypassPermissions === true) {
    throw refused('A start may not do without proofs of decisions.', [
      'requireProof',
      'allowBypassPermissions',
    ]);
  }
  checkMode(given, wished.permissionMode);
  checkAllowedTools(given, wished.allowedTools);
  if (wished.allowStandingGrants === true && !given.allowStandingGrants) {
    throw refused('Where decisions must be proven, a start may not allow standing grants.', [
      'allowStandingGrants',
    ]);
  }
}

function checkMode({ permissionMode }: Settings, wished: PermissionMode = permissionMode): void {
  if (WIDTH[wished] <= WIDTH[permissionMode]) return;
  throw refused(
    `Where decisions must be proven, a start may not widen the permission mode ${permissionMode} to ${wished}.`,
    ['permissionMode'],
  );
}

function checkAllowedTools({ allowedTools }: Settings, wished: readonly string[] = []): void {
  // A pattern of ours that fits another pattern as a text fits every name that the other one fits.
  const beyond = wished.filter((name) => !allowedTools.some((ours) => matchesName(ours, name)));
  if (beyond.length === 0) return;
  const names = beyond.slice(0, NAMES_SHOWN_MAX).map((name) => JSON.stringify(name));
  throw refused(
    `Where decisions must be proven, a start may not allow tools without asking: ${names.join(', ')}.`,
    ['allowedTools'],
  );
}

function refused(message: string, settings: readonly string[]): HoldfastError {
  return new HoldfastError('InvalidTask', message, {
    hint: `Leave ${settings.join(' and ')} to the configuration.`,
    details: { settings },
  });
}
