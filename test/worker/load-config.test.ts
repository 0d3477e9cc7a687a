import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import { loadConfig } from '../../worker/load-config.js';

const AUTHORING = JSON.stringify(join(__dirname, '../../authoring/index.ts'));

function source(exported: string, model = 'scripted/x'): string {
  return `
    import { defineAgent, defineConfig } from ${AUTHORING};
    const agent = defineAgent({ name: 'a', model: '${model}', instructions: 'Help.' });
    const made = defineConfig({ agents: [agent] });
    ${exported}
  `;
}

describe('loadConfig', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  test.each(['export default made;', 'export const config = made;'])(
    'finds what a TypeScript file says with `%s`',
    async (exported) => {
      write('holdfast.config.ts', source(exported));
      expect([...(await loadConfig({ folder })).agents.keys()]).toEqual(['a']);
    },
  );

  test('a file of any name can be given', async () => {
    const file = write('other.ts', source('export default made;'));
    expect((await loadConfig({ folder, file })).agents.size).toBe(1);
  });

  test.each<[string, string | undefined, string, RegExp]>([
    ['no file', undefined, 'InvalidConfig', /There is no configuration/],
    ['a file that exports something else', 'export default {};', 'InvalidConfig', /exports no/],
    ['a file that throws', 'throw new Error("boom");', 'InvalidConfig', /boom/],
    ['a file that throws nothing', 'throw undefined;', 'InvalidConfig', /: undefined was thrown/],
    [
      'a file that ends the process',
      'process.exit(3);',
      'InvalidConfig',
      /process\.exit\(3\) was called at the top of a module/,
    ],
    ['a file that does not parse', 'export default {', 'InvalidConfig', /cannot be loaded/],
    [
      'an unknown model',
      source('export default made;', 'x/y'),
      'UnknownModel',
      /agent "a" .*"x\/y"/,
    ],
    ['a wrong definition', source('defineConfig({ agents: [] });'), 'InvalidConfig', /no agent/],
  ])('%s is an error that says what to do', async (_what, text, code, message) => {
    if (text !== undefined) write('holdfast.config.ts', text);
    await expect(loadConfig({ folder })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      hint: expect.any(String),
    });
  });

  test('what another copy of Holdfast says of a wrong definition is said as it is', async () => {
    const thrown =
      "Object.assign(new Error('No agent.'), { name: 'HoldfastError', code: 'InvalidConfig', hint: 'Name one.', details: { at: 1 } })";
    write('holdfast.config.ts', `throw ${thrown};`);
    const error: unknown = await loadConfig({ folder }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code: 'InvalidConfig', message: 'No agent.', hint: 'Name one.' });
  });

  test('a file that is not there is named', async () => {
    const file = join(folder, 'gone.ts');
    await expect(loadConfig({ folder, file })).rejects.toThrow(/gone.ts does not exist/);
  });
});
