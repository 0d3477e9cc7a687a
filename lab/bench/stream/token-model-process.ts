/** The token model as its users reach it: in a process of its own, so that it takes nobody's time. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { GROUP_PATH, type TokenModelSettings } from './token-model.js';

export interface TokenModel {
  readonly baseUrl: string;
  /** The next streams begin when so many have been asked for. */
  beginTogether(streams: number): Promise<void>;
  stop(): void;
}

const ENTRY = join(__dirname, `token-model-entry${extname(__filename)}`);

export async function startTokenModelProcess(settings: TokenModelSettings): Promise<TokenModel> {
  const loader = ENTRY.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const child = fork(ENTRY, [JSON.stringify(settings)], { execArgv: loader });
  const [{ baseUrl }] = (await once(child, 'message')) as [{ readonly baseUrl: string }];
  return {
    baseUrl,
    async beginTogether(streams) {
      await fetch(`${baseUrl}${GROUP_PATH}${streams}`);
    },
    stop: () => void child.kill('SIGKILL'),
  };
}
