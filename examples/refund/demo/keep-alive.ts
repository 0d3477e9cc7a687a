/** Keeps a service running: one that ends without being told is started again, a few times. */
import { startService, type Service, type ServiceCommand } from './service.js';

export interface KeptService {
  readonly pid: number;
  stop(): Promise<void>;
}

export interface Watcher {
  readonly died: (pid: number) => void;
  readonly restarted: (pid: number) => void;
  readonly failed: (error: unknown) => void;
}

const RESTARTS_MAX = 10;

export async function keepAlive(command: ServiceCommand, watcher: Watcher): Promise<KeptService> {
  let current = await startService(command);
  let stopping = false;
  const watch = async (): Promise<void> => {
    for (let restarts = 0; restarts < RESTARTS_MAX; restarts += 1) {
      const { pid } = current;
      await current.exited;
      if (stopping) return;
      watcher.died(pid);
      const next: Service = await startService(command);
      current = next;
      // Told to stop while the new one was starting: it must not outlive us.
      if (stopping) return next.stop();
      watcher.restarted(next.pid);
    }
  };
  const watched = watch().catch((error: unknown) => watcher.failed(error));
  return {
    get pid() {
      return current.pid;
    },
    stop: async () => {
      stopping = true;
      await current.stop();
      await watched;
    },
  };
}
