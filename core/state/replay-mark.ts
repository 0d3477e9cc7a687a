/** One bundle of workflow code serves and replays: the replayer sets this global before it loads the bundle. */
export const REPLAY_MARK = 'holdfastReplays';
