/** Workspaces and folders of the fixture host. `?fixture=empty` has none; `?fixture=broken` fails to tell them. */
import { DrayError } from '../../engine/api/error.ts';
import type { WorkspaceCard } from '../../engine/api/host.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';

const GIB = 1024 ** 3;
const VARIANT = new URLSearchParams(globalThis.location?.search).get('fixture');

let workspaces: readonly WorkspaceCard[] =
  VARIANT === 'empty'
    ? []
    : [
        {
          root: '/home/ada/genomes',
          name: 'genomes',
          state: 'ready',
          branch: 'main',
          remotes: [
            { name: 'lab', url: 's3://genomes-lab/north-coast', isDefault: true },
            { name: 'archive', url: 's3://ada-archive/genomes', isDefault: false },
          ],
          files: 9_870,
          bytes: 11.6 * GIB,
          commit: '9c41'.repeat(16),
          lastPush: '2026-11-20T16:40:00Z',
        },
        {
          root: '/home/ada/imagery',
          name: 'imagery',
          state: 'ready',
          branch: 'season-2026',
          remotes: [{ name: 'origin', url: 's3://coast-imagery/tiles', isDefault: true }],
          files: 1_204_381,
          bytes: 4_812 * GIB,
          commit: '51d0'.repeat(16),
          lastPush: '2026-11-18T09:12:00Z',
        },
        {
          root: '/home/ada/models',
          name: 'models',
          state: 'ready',
          branch: 'main',
          remotes: [{ name: 'backup', url: 'file:///media/ada/disk/models', isDefault: true }],
          files: 38,
          bytes: 212 * GIB,
        },
        { root: '/media/ada/stick/field-notes', name: 'field-notes', state: 'missing', remotes: [] },
      ];

const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  '/': ['home', 'media', 'srv'],
  '/home': ['ada'],
  '/home/ada': ['genomes', 'imagery', 'models', 'photos', 'scratch'],
  '/home/ada/photos': ['2024', '2025', '2026'],
  '/media': ['ada'],
  '/media/ada': ['disk'],
  '/media/ada/disk': ['backup'],
};

function add(card: WorkspaceCard): WorkspaceCard {
  workspaces = [...workspaces.filter(({ root }) => root !== card.root), card];
  return card;
}

function newCard(root: string, url: string): WorkspaceCard {
  return {
    root,
    name: root.split('/').at(-1) ?? root,
    state: 'ready',
    branch: 'main',
    remotes: [{ name: 'origin', url, isDefault: true }],
    files: 0,
    bytes: 0,
  };
}

export const homeFixture: FixtureHandlers = {
  'home.list': () => {
    if (VARIANT === 'broken') throw new DrayError('io', 'The list of workspaces cannot be read: EACCES.');
    if (VARIANT === 'slow') return new Promise(() => {});
    return { workspaces };
  },
  'home.addWorkspace': ({ root }) => {
    const known = workspaces.find((card) => card.root === root);
    if (known) return known;
    throw new DrayError('notAWorkspace', `"${root}" is no workspace yet.`);
  },
  'home.createWorkspace': ({ root, remoteUrl }) => add(newCard(root, remoteUrl)),
  'home.cloneWorkspace': ({ url, root }) => ({ ...add(newCard(root, url)), failed: 0 }),
  'home.removeWorkspace': ({ root }) => {
    workspaces = workspaces.filter((card) => card.root !== root);
    return {};
  },
  'home.listFolders': ({ folder = '/home/ada' }) => ({
    folder,
    ...(folder === '/' ? {} : { parent: folder.slice(0, folder.lastIndexOf('/')) || '/' }),
    folders: FOLDERS[folder] ?? [],
    isWorkspace: workspaces.some(({ root }) => root === folder),
  }),
};
