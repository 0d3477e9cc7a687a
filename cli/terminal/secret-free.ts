/** Output in which the values of secret variables of this process are replaced by the names of the variables. */
import { withoutSecrets } from '../../pure/secret-values.js';
import type { Output } from './output.js';

export function secretFree(
  output: Output,
  variables: Readonly<Record<string, string | undefined>>,
): Output {
  const hidden = (text: string): string => withoutSecrets(text, variables);
  return {
    ...output,
    line: (text) => output.line(hidden(text)),
    remark: (text) => output.remark(hidden(text)),
    data: (value) => output.json && output.data(JSON.parse(hidden(JSON.stringify(value)))),
  };
}
