/** The workflows as Temporal's workers load them: one script for a sandbox, without Node. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Its name beside the command, when it was built with it. */
export function bundleName(isTraced: boolean): string {
  return isTraced ? 'fleet-workflows-traced.cjs' : 'fleet-workflows.cjs';
}

/**
 * Takes some seconds of the processor.
 * @param isTraced Includes the interceptors that make spans. A worker without traces cannot run the bundle.
 */
export async function bundleWorkflows(isTraced: boolean): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows/fleet-job.ts', import.meta.url)),
    workflowInterceptorModules: isTraced
      ? [resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors')]
      : [],
    logger: new DefaultLogger('ERROR'),
  });
  return code;
}
