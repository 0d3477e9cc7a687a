/** Secrets of this process have no place in a file that is handed on. */
import { secretIn, type Variables } from '../../pure/secret-values.js';
import { refused } from './refused.js';

/** Errors: `CaptureRefused`, which names the variable and never its value. */
export function refuseSecrets(text: string, variables: Variables): void {
  const name = secretIn(text, variables);
  if (name === undefined) return;
  throw refused(
    `it holds the value of the variable ${name}`,
    'Hide the value with --redact, and change the secret: the run has seen it.',
  );
}
