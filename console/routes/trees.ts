/** A run with the runs below it. */
import { z } from 'zod';
import { readTree } from '../../client/read/run-tree.js';
import { endpoint, type Endpoint } from '../http/endpoint.js';
import { notFound } from '../http/problem.js';
import * as shapes from '../http/shapes.js';
import { runTree } from '../http/tree-shapes.js';

const getTree = endpoint({
  method: 'get',
  path: '/v1/runs/{runId}/tree',
  name: 'getRunTree',
  summary:
    'A run or goal with the sub-agents or cycles below it: where each stands, and what they paid by route.',
  access: 'read',
  params: z.strictObject({ runId: shapes.id }),
  answers: { 200: { description: 'The tree.', schema: runTree } },
  async handle({ desk, person, params }) {
    const body = await readTree(desk.store, { tenant: person.tenant, runId: params.runId });
    if (body === undefined) throw notFound();
    return { status: 200, body };
  },
});

export const treeEndpoints: readonly Endpoint[] = [getTree];
