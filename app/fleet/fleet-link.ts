/** How the window's engine talks to Temporal. Temporal's packages are loaded at the first connection. */
import type { FleetServer } from '../../engine/api/host/fleet.ts';
import type { FleetLink } from '../../engine/api/host/fleet-link.ts';
import { withPackages } from './packages.ts';

export const fleetLink: FleetLink = {
  async connect({ isGiven: _, name: __, tls = false, uiUrl: ___, ...options }: FleetServer) {
    const { connectFleet } = await withPackages(() => import('./fleet-client.ts'));
    return connectFleet({ ...options, tls });
  },
};
