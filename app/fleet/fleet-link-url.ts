const NAME = import.meta.url.endsWith('.ts') ? './fleet-link.ts' : './fleet-link.js';

/** The module that the window's engine loads to talk to Temporal. It lies beside this one. */
export const fleetLinkUrl = new URL(NAME, import.meta.url);
