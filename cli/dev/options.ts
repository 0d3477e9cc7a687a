/** What `holdfast dev` was asked for. */
import type { CommonOptions } from '../command.js';
import type { ServerOptions } from '../embedded-server.js';
import type { Session } from '../session.js';

export interface DevOptions extends ServerOptions, CommonOptions {
  /** `--no-console` */
  readonly console: boolean;
  readonly consolePort?: number;
  /** `--no-watch` */
  readonly watch: boolean;
  readonly ask?: string;
  readonly agent?: string;
}

export interface DevAt {
  readonly options: DevOptions;
  readonly session: Session;
}
