/** The workflows as Temporal's workers load them: one script for a sandbox, without Node. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Its name beside the command, when it was built with it. */
export const WORKFLOW_BUNDLE = 'fleet-workflows.cjs';

/** Takes some seconds of the processor. */
export async function bundleWorkflows(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows/fleet-job.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  return code;
}
