export interface Costs {
  readonly own: number;
  readonly started: number;
}
export function costsSoFar(pid?: number): Costs | undefined;
export function tellCosts(name: string, since: Costs | undefined, until?: Costs): void;
