/** Values of secret variables of a process, in texts that are handed on. */

/** Names of variables that hold secrets. */
const SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)S?$/;
/** Shorter values occur by chance. */
const CHARS_MIN = 8;
/** A result of a tool within the body of a request within a file. */
const JSON_LEVELS_MAX = 4;

export type Variables = Readonly<Record<string, string | undefined>>;

/** The variable whose value stands in the JSON text; undefined: none does. */
export function secretIn(text: string, variables: Variables): string | undefined {
  return secretFinder(variables)?.(text);
}

/** The same for many texts; undefined: no variable is a secret. */
export function secretFinder(
  variables: Variables,
): ((text: string) => string | undefined) | undefined {
  const secrets = secretsOf(variables);
  if (secrets.length === 0) return undefined;
  return (text) => secrets.find(([, secret]) => holdsSecret(text, secret))?.[0];
}

/** Whether it stands in the text, also as JSON within JSON writes it. */
export function holdsSecret(text: string, secret: string): boolean {
  return writtenForms(secret).some((form) => text.includes(form));
}

/** The text with the name of the variable in place of each value, also as XML and JSON within JSON write it. */
export function withoutSecrets(text: string, variables: Variables): string {
  return (
    secretsOf(variables)
      .flatMap(([name, secret]) => writtenForms(secret).map((form) => [name, form] as const))
      // The longest first: a value, or a form of it, may be a part of another one.
      .toSorted(([, one], [, other]) => other.length - one.length)
      .reduce((rest, [name, form]) => rest.replaceAll(form, () => `[value of ${name}]`), text)
  );
}

/** How the value is written, in JSON within JSON as well. */
export function writtenForms(secret: string): readonly string[] {
  const forms = [secret];
  for (let level = 0; level < JSON_LEVELS_MAX; level += 1) forms.push(inJson(forms[level]!));
  return [...new Set([...forms, inXml(secret)])];
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
