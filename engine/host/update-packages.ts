/** Packages of the desktop app by their names, as `artifactName` of electron-builder.yml makes them: which fit a system, and which is the newest. */
import type { UpdateChannel } from '../api/host.ts';

export interface PackagedSystem {
  readonly platform: string;
  readonly arch: string;
  /** Of Linux: what runs came as an AppImage. */
  readonly isAppImage: boolean;
  /** Of Linux: it installs packages of Debian. */
  readonly isDebian: boolean;
}

export interface UpdatePackage {
  readonly name: string;
  readonly version: string;
}

const PRODUCT = 'Dray-';

/** Of semantic versioning 2.0.0, without build metadata, which no order knows: `1.2.3`, `1.2.3-beta.1`. */
const VERSION = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** electron-builder's names of x64 for packages whose systems have their own. */
const LINUX_NAMES: Readonly<Record<string, { readonly AppImage: string; readonly deb: string }>> = {
  x64: { AppImage: 'x86_64', deb: 'amd64' },
  arm64: { AppImage: 'arm64', deb: 'arm64' },
};

/** How the names of packages for this system end, the one that suits it best first; none where there is no desktop app. */
export function packageEndings({ arch, isAppImage, isDebian, platform }: PackagedSystem): readonly string[] {
  const linux = LINUX_NAMES[arch];
  if (!linux) return [];
  const image = `-linux-${linux.AppImage}.AppImage`;
  const deb = `-linux-${linux.deb}.deb`;
  switch (platform) {
    case 'linux':
      if (!isDebian) return [image];
      return isAppImage ? [image, deb] : [deb, image];
    case 'darwin':
      return [`-mac-${arch}.dmg`, '-mac-universal.dmg'];
    case 'win32':
      // An installer for both architectures names none.
      return [`-win-${arch}.exe`, '-win.exe'];
    default:
      return [];
  }
}

/** For people: `Dray-VERSION-linux-amd64.deb`. */
export function nameOfEnding(ending: string): string {
  return `${PRODUCT}VERSION${ending}`;
}

/** Of these names the packages that fit, the newest first; of one version the one that suits best. Pre-releases come on `preview` alone. */
export function fittingPackages(
  names: readonly string[],
  endings: readonly string[],
  channel: UpdateChannel,
): readonly UpdatePackage[] {
  return names
    .flatMap((name) => {
      const rank = endings.findIndex((ending) => name.endsWith(ending));
      if (rank === -1 || !name.startsWith(PRODUCT)) return [];
      const version = name.slice(PRODUCT.length, -endings[rank]!.length);
      const parts = VERSION.exec(version);
      if (!parts || (parts[4] !== undefined && channel !== 'preview')) return [];
      return [{ name, version, rank }];
    })
    .sort((a, b) => compareVersions(b.version, a.version) || a.rank - b.rank)
    .map(({ name, version }) => ({ name, version }));
}

/** The precedence of semantic versioning 2.0.0, section 11: negative when `a` comes before `b`. What is no version comes before all that are. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [VERSION.exec(a), VERSION.exec(b)];
  if (!left || !right) return Number(left !== null) - Number(right !== null);
  for (const part of [1, 2, 3]) {
    const difference = Number(left[part]) - Number(right[part]);
    if (difference !== 0) return difference;
  }
  return comparePreReleases(left[4], right[4]);
}

function comparePreReleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [left, right] = [a.split('.'), b.split('.')];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const difference = compareIdentifiers(left[at]!, right[at]!);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Numbers by their value and before words; words by their bytes. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}
