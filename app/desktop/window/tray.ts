/** A tray icon while transfers run, so that the window can be closed meanwhile. */
import type { Tray } from 'electron';
import type { IncomingLook } from '../../../engine/api/host/home.ts';
import type { Electron } from '../electron-parts.ts';
import type { Progress } from '../progress.ts';

export interface TrayActions {
  readonly show: (hash: string) => void;
  readonly pauseAll: () => void;
  readonly quit: () => void;
}

export interface TransferTray {
  readonly update: (progress: Progress) => void;
  /** Workspaces with something to pull or to push, for the menu. */
  readonly tellLooks: (looks: readonly IncomingLook[]) => void;
  readonly dispose: () => void;
}

export function createTransferTray(
  { Tray, Menu, nativeImage }: Pick<Electron, 'Tray' | 'Menu' | 'nativeImage'>,
  iconPath: string,
  actions: TrayActions,
): TransferTray {
  let tray: Tray | undefined;
  let told = '';
  let waiting: readonly string[] = [];
  let last: Progress = { running: 0 };

  const dispose = () => {
    tray?.destroy();
    tray = undefined;
    told = '';
  };

  const update = (progress: Progress): void => {
    last = progress;
    if (progress.running === 0) {
      dispose();
      return;
    }
    const text = [describeProgress(progress), ...waiting].join('\n');
    if (!tray) {
      const icon = nativeImage.createFromPath(iconPath);
      // macOS draws it in the colours of its menu bar.
      icon.setTemplateImage(true);
      tray = new Tray(icon);
      tray.on('click', () => actions.show('#/transfers'));
    }
    // Setting a menu closes the one that is open.
    if (text === told) return;
    told = text;
    tray.setToolTip(`Dray: ${describeProgress(progress)}`);
    tray.setContextMenu(
      Menu.buildFromTemplate([
        { label: describeProgress(progress), enabled: false },
        ...waiting.map((label) => ({ label, click: () => actions.show('#/home') })),
        { type: 'separator' },
        { label: 'Show Transfers', click: () => actions.show('#/transfers') },
        { label: 'Pause All', click: actions.pauseAll },
        { type: 'separator' },
        { label: 'Quit Dray', click: actions.quit },
      ]),
    );
  };
  return {
    dispose,
    update,
    tellLooks(looks) {
      waiting = describeLooks(looks);
      update(last);
    },
  };
}

function describeLooks(looks: readonly IncomingLook[]): readonly string[] {
  const incoming = looks.filter(({ hasIncoming }) => hasIncoming).length;
  const outgoing = looks.filter((look) => (look.outgoing ?? 0) > 0).length;
  const workspaces = (count: number) => `${count} ${count === 1 ? 'workspace' : 'workspaces'}`;
  return [
    ...(incoming > 0 ? [`To pull: ${workspaces(incoming)}`] : []),
    ...(outgoing > 0 ? [`To push: ${workspaces(outgoing)}`] : []),
  ];
}

/** In steps of 5 percent, so that it rarely changes. */
function describeProgress({ running, fraction }: Progress): string {
  const what = `${running} ${running === 1 ? 'transfer' : 'transfers'}`;
  return fraction === undefined ? what : `${what}, ${Math.floor(fraction * 20) * 5} %`;
}
