/** Secrets of this process have no place in a file that is handed on. */
import { refused } from './refused.js';

/** Names of variables that hold secrets. */
const SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)S?$/;
/** Shorter values occur by chance. */
const CHARS_MIN = 8;

type Variables = Readonly<Record<string, string | undefined>>;

/** Errors: `CaptureRefused`, which names the variable and never its value. */
export function refuseSecrets(text: string, variables: Variables): void {
  const name = secretIn(text, variables);
  if (name === undefined) return;
  throw refused(
    `it holds the value of the variable ${name}`,
    'Hide the value with --redact, and change the secret: the run has seen it.',
  );
}

/** The variable whose value stands in the JSON text; undefined: none does. */
export function secretIn(text: string, variables: Variables): string | undefined {
  return secretFinder(variables)?.(text);
}

/** The same for many texts; undefined: no variable is a secret. */
export function secretFinder(
  variables: Variables,
): ((text: string) => string | undefined) | undefined {
  const secrets = secretsOf(variables).map(([name, secret]) => [name, inJson(secret)] as const);
  if (secrets.length === 0) return undefined;
  return (text) => secrets.find(([, secret]) => text.includes(secret))?.[0];
}

/** The text with the name of the variable in place of each value, also as JSON and XML write it. */
export function withoutSecrets(text: string, variables: Variables): string {
  return secretsOf(variables).reduce(
    (rest, [name, secret]) =>
      rest
        .replaceAll(secret, `[value of ${name}]`)
        .replaceAll(inJson(secret), `[value of ${name}]`)
        .replaceAll(inXml(secret), `[value of ${name}]`),
    text,
  );
}

function secretsOf(variables: Variables): readonly (readonly [string, string])[] {
  return Object.entries(variables).flatMap(([name, value = '']) => {
    const secret = value.trim();
    return SECRET.test(name) && secret.length >= CHARS_MIN ? [[name, secret] as const] : [];
  });
}

function inJson(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}

function inXml(secret: string): string {
  return secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
