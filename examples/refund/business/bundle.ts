/** The workflow's code for the sandbox: made by the build beside the compiled sources, else made when needed. */
import { existsSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { WorkflowBundleOption } from '@temporalio/worker';

const WORKFLOW = join(__dirname, `refund-process${extname(__filename)}`);
const PREBUILT = join(__dirname, 'refund-process.bundle.js');

/** The prebuilt bundle; running from the sources there is none, and one is made (about two seconds). */
export async function businessBundle(): Promise<WorkflowBundleOption> {
  if (existsSync(PREBUILT)) return { codePath: PREBUILT };
  return { code: await bundle() };
}

/** A build step, because bundling is most of what a worker's start costs. */
export async function writeBusinessBundle(): Promise<void> {
  writeFileSync(PREBUILT, await bundle());
}

async function bundle(): Promise<string> {
  const logger = new DefaultLogger('ERROR');
  const { code } = await bundleWorkflowCode({
    workflowsPath: WORKFLOW,
    // The lines of the sources for stack traces, without their texts: those are four fifths of a bundle.
    webpackConfigHook: (config) => ({
      ...config,
      devtool: 'inline-nosources-cheap-module-source-map',
      output: { ...config.output, pathinfo: false },
    }),
    logger,
  });
  return code;
}
