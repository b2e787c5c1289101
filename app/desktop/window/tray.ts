/** Shows a tray icon while transfers run or jobs wait, so the window can be closed meanwhile. */
import type { Tray } from 'electron';
import type { IncomingLook } from '../../../engine/api/host/home.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { sumToPull, sumToPush } from '../../../engine/api/text/pending.ts';
import type { Electron } from '../electron-parts.ts';
import type { DockProgress } from '../progress.ts';

export interface TrayActions {
  readonly show: (hash: string) => void;
  readonly pauseAll: () => void;
  readonly quit: () => void;
}

export interface TrayJobs {
  /** The number of jobs that this app starts when they are due. */
  readonly waiting: number;
  readonly running: number;
}

export interface TransferTray {
  readonly update: (progress: DockProgress) => void;
  readonly showJobs: (jobs: TrayJobs) => void;
  /** Shows in the menu how many commits there are to pull, and how many files to push. */
  readonly showIncoming: (looks: readonly IncomingLook[]) => void;
  readonly dispose: () => void;
}

export function createTransferTray(
  { Tray, Menu, nativeImage }: Pick<Electron, 'Tray' | 'Menu' | 'nativeImage'>,
  iconPath: string,
  actions: TrayActions,
): TransferTray {
  let tray: Tray | undefined;
  let shown = '';
  let waiting: readonly string[] = [];
  let last: DockProgress = { running: 0 };
  let jobs: TrayJobs = { waiting: 0, running: 0 };

  const dispose = () => {
    tray?.destroy();
    tray = undefined;
    shown = '';
  };

  const update = (progress: DockProgress): void => {
    last = progress;
    const work = [...(progress.running > 0 ? [describeProgress(progress)] : []), ...describeJobs(jobs)];
    if (work.length === 0) {
      dispose();
      return;
    }
    const hasTransfers = progress.running > 0;
    const text = [...work, ...waiting].join('\n');
    if (!tray) {
      const icon = nativeImage.createFromPath(iconPath);
      // macOS draws it in the colours of its menu bar.
      icon.setTemplateImage(true);
      tray = new Tray(icon);
      tray.on('click', () => actions.show(last.running > 0 ? '#/transfers' : '#/jobs'));
    }
    // A new menu closes the open one, so an equal one is not set.
    if (text === shown) return;
    shown = text;
    tray.setToolTip(`Dray: ${work.join(', ')}`);
    tray.setContextMenu(
      Menu.buildFromTemplate([
        ...work.map((label) => ({ label, enabled: false })),
        ...waiting.map((label) => ({ label, click: () => actions.show('#/home') })),
        { type: 'separator' },
        ...(hasTransfers
          ? [
              { label: 'Show Transfers', click: () => actions.show('#/transfers') },
              { label: 'Pause All', click: actions.pauseAll },
            ]
          : []),
        ...(jobs.waiting + jobs.running > 0
          ? [{ label: 'Show Jobs', click: () => actions.show('#/jobs') }]
          : []),
        { type: 'separator' },
        { label: 'Quit Dray', click: actions.quit },
      ]),
    );
  };
  return {
    dispose,
    update,
    showJobs(now) {
      jobs = now;
      update(last);
    },
    showIncoming(looks) {
      waiting = [sumToPull(looks), sumToPush(looks)].flatMap((sum) => sum?.words ?? []);
      update(last);
    },
  };
}

function describeJobs({ running, waiting }: TrayJobs): readonly string[] {
  return [
    ...(running > 0 ? [`${formatPlural(running, 'job')} running`] : []),
    ...(waiting > 0 ? [`${formatPlural(waiting, 'job')} waiting`] : []),
  ];
}

/** In steps of 5 percent, so that it rarely changes. */
function describeProgress({ running, fraction }: DockProgress): string {
  const what = formatPlural(running, 'transfer');
  return fraction === undefined ? what : `${what}, ${Math.floor(fraction * 20) * 5} %`;
}
