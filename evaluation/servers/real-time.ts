/**
 * Work that takes real time while virtual time stands still: what a client says to a server goes through streams and tasks of
 * its own. Where it waits for something of the case (a delay, a stop), virtual time goes on.
 */
export class RealTime {
  private busy = 0;
  private waiting: (() => void)[] = [];

  /** Ends when something of it has; undefined: nothing is under way. */
  current(): Promise<void> | undefined {
    if (this.busy === 0) return undefined;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.busy += 1;
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Within `during`: what is waited for comes in the time of the case. */
  async except<T>(wait: () => Promise<T>): Promise<T> {
    this.leave();
    try {
      return await wait();
    } finally {
      this.busy += 1;
    }
  }

  private leave(): void {
    this.busy -= 1;
    const told = this.waiting;
    this.waiting = [];
    for (const resolve of told) resolve();
  }
}
