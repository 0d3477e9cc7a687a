import { EXIT } from '../../cli/exit-code.js';
import { runCli } from '../../cli/program.js';

async function refused(...words: readonly string[]) {
  let err = '';
  const environment = { variables: {}, folder: '/nowhere', colour: false, interactive: false };
  const streams = { out: () => undefined, err: (text: string) => void (err += text) };
  const code = await runCli(['worker', ...words], { environment, streams });
  return { code, err };
}

test.each([
  [['--only', 'workflows', '--queue', 'jail'], 'about tools'],
  [['--only', 'tools'], 'workflows, activities'],
  [['--activities-at-once', '0'], 'from 1 to'],
  [['--decisions-at-once', '1'], 'from 2 to'],
  [
    ['--probe-address', 'localhost:8081'],
    'option --probe-address cannot be used: it must be IP:port',
  ],
  [['--metrics-address', '9464'], 'option --metrics-address cannot be used: it must be IP:port'],
])('holdfast worker %j is refused', async (words, why) => {
  const { code, err } = await refused(...words);
  expect(code).not.toBe(0);
  expect(err).toContain(why);
});

test.each(['address', 'namespace', 'task-queue', 'store', 'home', 'config', 'queue'])(
  'an empty --%s, such as of an unset variable, is a wrong command line',
  async (name) => {
    for (const empty of ['', ' ']) {
      const { code, err } = await refused(`--${name}=${empty}`);
      expect([code, err]).toEqual([EXIT.usage, expect.stringMatching(`--${name} is empty\\.`)]);
    }
  },
);
