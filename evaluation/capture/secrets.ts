/** Secrets of this process have no place in a file that is handed on. */
import { refused } from './refused.js';

/** Names of variables that hold secrets. */
const SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)S?$/;
/** Shorter values occur by chance. */
const CHARS_MIN = 8;

/** Errors: `CaptureRefused`, which names the variable and never its value. */
export function refuseSecrets(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value = ''] of Object.entries(variables)) {
    const secret = value.trim();
    if (!SECRET.test(name) || secret.length < CHARS_MIN) continue;
    const written = JSON.stringify(secret).slice(1, -1);
    if (!text.includes(written)) continue;
    throw refused(
      `it holds the value of the variable ${name}`,
      'Hide the value with --redact, and change the secret: the run has seen it.',
    );
  }
}
