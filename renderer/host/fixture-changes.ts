/** Changes and plans of the fixture host. */
import type { FixtureHandlers } from './fixture.ts';

export const changesFixture: FixtureHandlers = {};
