/**
 * What the cycles of goals propose, in the order in which they did.
 * Invariants: one row for each call of a tool; numbers of a cycle have no gaps, and one that is given stays.
 */
import type { Proposal } from '../core/state/goal/proposal.js';
import { checkIdentifiers, checkWholeNumbers, LIST_ROWS_MAX } from './bounds.js';
import { change, holdRun, immediate, rowsOf, type Db } from './database.js';
import type { ProposalTable } from './schema.js';

export interface ProposalPlace {
  readonly tenant: string;
  /** Run id of the goal. */
  readonly goal: string;
  /** Number of the cycle. */
  readonly cycle: number;
}

export interface ProposalRow {
  /** From 1. */
  readonly k: number;
  /** Call key of the tool call. */
  readonly key: string;
  readonly proposal: Proposal;
}

/** Rows of one cycle: far more calls than a cycle makes. */
export const PROPOSALS_MAX = LIST_ROWS_MAX;

export interface Proposals {
  /**
   * The same key again keeps its number; what is said then counts, as after a reset. Undefined: the cycle has
   * PROPOSALS_MAX already.
   */
  putProposal(
    proposed: ProposalPlace & { readonly key: string; readonly proposal: Proposal },
  ): Promise<{ readonly k: number; readonly isNew: boolean } | undefined>;
  /** In their order. */
  listProposals(tenant: string, goal: string, cycle: number): Promise<readonly ProposalRow[]>;
}

const OF_CYCLE = `tenant = @tenant and goal = @goal and cycle = @cycle`;

const INSERT = `
  insert into proposals (tenant, goal, cycle, k, call_key, proposal_json)
  values (@tenant, @goal, @cycle, @k, @key, @json)`;

const KNOWN = `select * from proposals where ${OF_CYCLE} and call_key = @key`;

const REPLACE = `update proposals set proposal_json = @json where ${OF_CYCLE} and k = @k`;

const NEWEST = `select * from proposals where ${OF_CYCLE} order by k desc limit 1`;

const LIST = `select * from proposals where ${OF_CYCLE} order by k`;

export function proposals(db: Db): Proposals {
  return {
    async putProposal({ tenant, goal, cycle, key, proposal }) {
      checkIdentifiers({ tenant, goal, key });
      checkWholeNumbers({ cycle });
      const place = { tenant, goal, cycle };
      const json = JSON.stringify(proposal);
      return immediate(db, async (tx) => {
        await holdRun(tx, { tenant, runId: goal });
        const [known] = await rowsOf<ProposalTable>(tx, KNOWN, { ...place, key });
        if (known !== undefined) {
          const { k } = known;
          if (known.proposal_json !== json) await change(tx, REPLACE, { ...place, k, json });
          return { k, isNew: false };
        }
        const [newest] = await rowsOf<ProposalTable>(tx, NEWEST, place);
        const k = (newest?.k ?? 0) + 1;
        if (k > PROPOSALS_MAX) return undefined;
        await change(tx, INSERT, { ...place, k, key, json });
        return { k, isNew: true };
      });
    },
    async listProposals(tenant, goal, cycle) {
      checkIdentifiers({ tenant, goal });
      checkWholeNumbers({ cycle });
      const rows = await rowsOf<ProposalTable>(db, LIST, { tenant, goal, cycle });
      return rows.map(({ k, call_key: key, proposal_json: json }) => ({
        k,
        key,
        // Our own form of what was typed when it came in.
        proposal: JSON.parse(json) as Proposal,
      }));
    },
  };
}
