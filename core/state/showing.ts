/** What Temporal's own lists tell of a run: its search attributes, each as far as it is a text. */
export interface Showing {
  readonly status?: string | undefined;
  readonly agent?: string | undefined;
  readonly tenant?: string | undefined;
}
