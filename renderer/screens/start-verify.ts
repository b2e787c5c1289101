/** Starts the verification of a workspace's remote, from wherever it is offered. */
import type { WorkspaceCard } from '../../engine/api/host/home.ts';
import { useStartTransfers } from './start-transfer.ts';

export function useStartVerify(): (workspace: Pick<WorkspaceCard, 'root' | 'name'>) => void {
  const start = useStartTransfers();
  return ({ name, root }) =>
    void start(`The remote of ${name} is being verified`, [{ kind: 'verify', root }]);
}
