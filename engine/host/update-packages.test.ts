import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareVersions,
  fittingPackages,
  nameOfEnding,
  type PackagedSystem,
  packageEndings,
} from './update-packages.ts';

const SYSTEM: PackagedSystem = { platform: 'linux', arch: 'x64', isAppImage: false, isDebian: true };

/** Section 11 of semantic versioning 2.0.0, and what lies around it. */
const ORDERED = [
  '0.9.10',
  '1.0.0-1',
  '1.0.0-9',
  '1.0.0-10',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.2',
  '1.0.10',
  '1.10.0',
  '10.0.0',
];

describe('Versions', () => {
  it('have the order of semantic versioning', () => {
    for (const [at, version] of ORDERED.entries())
      for (const [other, against] of ORDERED.entries())
        expect(Math.sign(compareVersions(version, against))).toBe(Math.sign(at - other));
  });

  it('are found newest first, in whatever order they are listed', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(ORDERED), (versions) => {
        const names = versions.map((version) => `Dray-${version}-linux-amd64.deb`);
        const found = fittingPackages(names, packageEndings(SYSTEM), 'preview').map(({ version }) => version);
        expect(found).toEqual(ORDERED.filter((version) => versions.includes(version)).reverse());
      }),
    );
  });
});

describe('Packages', () => {
  it('have the names that electron-builder.yml gives them', () => {
    const rules = readFileSync(new URL('../../electron-builder.yml', import.meta.url), 'utf8');
    expect(rules).toContain('\nproductName: Dray\n');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is electron-builder's own template
    expect(rules).toContain('\nartifactName: ${productName}-${version}-${os}-${arch}.${ext}\n');
  });

  it('fit one system, and suit how it installs them', () => {
    const namesOf = (system: Partial<PackagedSystem>) =>
      packageEndings({ ...SYSTEM, ...system }).map(nameOfEnding);
    const deb = 'Dray-VERSION-linux-amd64.deb';
    const image = 'Dray-VERSION-linux-x86_64.AppImage';
    expect(namesOf({})).toEqual([deb, image]);
    expect(namesOf({ isAppImage: true })).toEqual([image, deb]);
    expect(namesOf({ isDebian: false })).toEqual([image]);
    expect(namesOf({ arch: 'arm64' })[0]).toBe('Dray-VERSION-linux-arm64.deb');
    expect(namesOf({ platform: 'darwin', arch: 'arm64' })[0]).toBe('Dray-VERSION-mac-arm64.dmg');
    expect(namesOf({ platform: 'win32' })).toEqual(['Dray-VERSION-win-x64.exe', 'Dray-VERSION-win.exe']);
    expect(namesOf({ platform: 'freebsd' })).toEqual([]);
    expect(namesOf({ arch: 'ia32' })).toEqual([]);
  });

  it('of other systems, other programs and unfinished copies are passed over', () => {
    const names = [
      'Dray-0.3.0-linux-amd64.deb.part',
      'Dray-0.3.0-linux-arm64.deb',
      'Dray-0.3.0-mac-x64.dmg',
      'Dray-0.3-linux-amd64.deb',
      'Dray-0.3.0+5-linux-amd64.deb',
      'Dray--linux-amd64.deb',
      'dray-0.3.0-linux-amd64.deb',
      'Other-0.3.0-linux-amd64.deb',
      'latest-linux.yml',
    ];
    const fitting = fittingPackages(
      [...names, 'Dray-0.2.0-linux-amd64.deb'],
      packageEndings(SYSTEM),
      'preview',
    );
    expect(fitting).toEqual([{ name: 'Dray-0.2.0-linux-amd64.deb', version: '0.2.0' }]);
  });

  it('of one version are taken as they suit the system, and pre-releases on preview alone', () => {
    const names = [
      'Dray-0.2.0-linux-x86_64.AppImage',
      'Dray-0.2.0-linux-amd64.deb',
      'Dray-0.3.0-beta.1-linux-amd64.deb',
    ];
    const newest = (channel: 'stable' | 'preview', system: Partial<PackagedSystem> = {}) =>
      fittingPackages(names, packageEndings({ ...SYSTEM, ...system }), channel)[0]?.name;
    expect(newest('stable')).toBe(names[1]);
    expect(newest('stable', { isAppImage: true })).toBe(names[0]);
    expect(newest('preview')).toBe(names[2]);
  });
});
