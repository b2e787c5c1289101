/** The configuration of the desktop app's packages. `package.long.test.ts` packs one. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { nativeBinariesOf } from '../../app/build/package-desktop.ts';
import { requireOfBuilder } from './builder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Config {
  readonly extraMetadata: Readonly<Record<string, string>>;
  readonly [system: string]: unknown;
}

async function readConfig(): Promise<Config> {
  const { getConfig } = requireOfBuilder('./util/config/config.js');
  return getConfig(ROOT, null, {});
}

describe('The configuration of the packages', () => {
  it.each([
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'x64'],
    ['darwin', 'arm64'],
    ['win32', 'x64'],
    ['win32', 'arm64'],
  ])('names native code and an icon that exist for %s on %s', async (platform, architecture) => {
    const [sqlite, koffi] = nativeBinariesOf(platform, architecture);
    expect(existsSync(join(ROOT, sqlite!.path))).toBe(true);
    // Only this machine's version is installed; the install command of every other one is known.
    expect(koffi!.command).toMatch(/^npm install .* @koromix\/koffi-\w+-\w+@\d+\.\d+\.\d+$/);
    const section = { linux: 'linux', darwin: 'mac', win32: 'win' }[platform]!;
    const { icon } = (await readConfig())[section] as { icon: string };
    const picture = readFileSync(join(ROOT, icon));
    // Width and height in the PNG's header. macOS needs at least 512.
    expect(picture.readUInt32BE(16)).toBeGreaterThanOrEqual(512);
    expect(picture.readUInt32BE(20)).toBe(picture.readUInt32BE(16));
  });

  it("sets a deb's mandatory fields and the built entry", async () => {
    const { extraMetadata, linux } = await readConfig();
    expect(extraMetadata).toMatchObject({ main: 'dist/desktop/main.js', homepage: expect.any(String) });
    expect(linux).toMatchObject({ maintainer: expect.any(String) });
  });
});
