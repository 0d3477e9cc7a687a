/**
 * The work folder of each run: its newest state, and what each call has made of it.
 * Invariants: a call changes the folder once, whatever is delivered twice; it changes the state that it saw, or nothing;
 * a call that was found out not to have changed it never does so afterwards under the same attempt.
 */
import { checkIdentifiers, checkWholeNumbers } from './bounds.js';
import { change, holdRun, immediate, rowsOf, type Db } from './database.js';
import type { FolderCommitTable, WorkFolderTable } from './schema.js';

export interface FolderName {
  readonly tenant: string;
  /** Run id. */
  readonly owner: string;
}

export interface FolderHead {
  /** From 1; 0: there is none yet. */
  readonly version: number;
  /** sha256 of the text that lists what is in it; absent: nothing is. */
  readonly hash?: string;
}

/** What a call made of the folder. */
export interface FolderCommit {
  readonly attempt: number;
  /** Version that it made; with 'void' that of the moment. */
  readonly version: number;
  /** 'void': this attempt changed nothing, and never will. */
  readonly state: 'made' | 'void';
  /** What it returned, as JSON text; '' with 'void'. */
  readonly result: string;
}

export interface CommitKey extends FolderName {
  /** Idempotency key of the call. */
  readonly key: string;
  readonly attempt: number;
}

/** 'spent': the call has made its change already, or this attempt may not any more. */
export type Committed = 'made' | 'moved' | 'spent';

export interface WorkFolders {
  folderHead(folder: FolderName): Promise<FolderHead>;
  folderCommit(folder: FolderName & { readonly key: string }): Promise<FolderCommit | undefined>;
  /** The folder becomes `hash`, if it is still of version `from`. */
  commitFolder(
    commit: CommitKey & {
      readonly from: number;
      readonly hash: string;
      readonly result: string;
      readonly at: number;
    },
  ): Promise<Committed>;
  /** What the call made; where it made nothing, this attempt never will. */
  burnFolderCommit(commit: CommitKey): Promise<FolderCommit>;
}

const OF_FOLDER = 'tenant = @tenant and owner = @owner';
const HEAD = `select * from work_folders where ${OF_FOLDER}`;
const COMMIT = `select * from folder_commits where ${OF_FOLDER} and call_key = @key`;

const SET_HEAD = `
  insert into work_folders (tenant, owner, version, hash, updated_at)
  values (@tenant, @owner, @version, @hash, @at)
  on conflict (tenant, owner) do update set
    version = excluded.version, hash = excluded.hash, updated_at = excluded.updated_at`;

const SET_COMMIT = `
  insert into folder_commits (tenant, owner, call_key, attempt, version, state, result_json)
  values (@tenant, @owner, @key, @attempt, @version, @state, @result)
  on conflict (tenant, owner, call_key) do update set
    attempt = excluded.attempt, version = excluded.version, state = excluded.state,
    result_json = excluded.result_json`;

export function workFolders(db: Db): WorkFolders {
  return {
    async folderHead({ tenant, owner }) {
      checkIdentifiers({ tenant, owner });
      return headIn(db, { tenant, owner });
    },
    async folderCommit({ tenant, owner, key }) {
      checkIdentifiers({ tenant, owner, key });
      return commitIn(db, { tenant, owner, key });
    },
    async commitFolder({ tenant, owner, key, attempt, from, hash, result, at }) {
      checkIdentifiers({ tenant, owner, key, hash });
      checkWholeNumbers({ attempt, from, at });
      return immediate(db, async (tx) => {
        await holdRun(tx, { tenant, runId: owner });
        const before = await commitIn(tx, { tenant, owner, key });
        if (before?.state === 'made' || (before !== undefined && before.attempt >= attempt))
          return 'spent';
        if ((await headIn(tx, { tenant, owner })).version !== from) return 'moved';
        const version = from + 1;
        await change(tx, SET_HEAD, { tenant, owner, version, hash, at });
        const made = { tenant, owner, key, attempt, version, result };
        await change(tx, SET_COMMIT, { ...made, state: 'made' });
        return 'made';
      });
    },
    async burnFolderCommit({ tenant, owner, key, attempt }) {
      checkIdentifiers({ tenant, owner, key });
      checkWholeNumbers({ attempt });
      return immediate(db, async (tx) => {
        await holdRun(tx, { tenant, runId: owner });
        const before = await commitIn(tx, { tenant, owner, key });
        if (before !== undefined && (before.state === 'made' || before.attempt >= attempt))
          return before;
        const { version } = await headIn(tx, { tenant, owner });
        const burned = { attempt, version, state: 'void', result: '' } as const;
        await change(tx, SET_COMMIT, { tenant, owner, key, ...burned });
        return burned;
      });
    },
  };
}

async function headIn(db: Db, folder: FolderName): Promise<FolderHead> {
  const [row] = await rowsOf<WorkFolderTable>(db, HEAD, { ...folder });
  return row === undefined ? { version: 0 } : { version: row.version, hash: row.hash };
}

async function commitIn(
  db: Db,
  named: FolderName & { readonly key: string },
): Promise<FolderCommit | undefined> {
  const [row] = await rowsOf<FolderCommitTable>(db, COMMIT, { ...named });
  if (row === undefined) return undefined;
  const { attempt, version, state, result_json: result } = row;
  // What a newer release may write otherwise stands for a change that was made.
  return { attempt, version, state: state === 'void' ? 'void' : 'made', result };
}
