/** A tray icon while transfers run, so that the window can be closed meanwhile. */
import type { Tray } from 'electron';
import type { Electron } from '../electron-parts.ts';
import type { Progress } from '../progress.ts';

export interface TrayActions {
  readonly show: (hash: string) => void;
  readonly pauseAll: () => void;
  readonly quit: () => void;
}

export interface TransferTray {
  readonly update: (progress: Progress) => void;
  readonly dispose: () => void;
}

export function createTransferTray(
  { Tray, Menu, nativeImage }: Pick<Electron, 'Tray' | 'Menu' | 'nativeImage'>,
  iconPath: string,
  actions: TrayActions,
): TransferTray {
  let tray: Tray | undefined;
  let told = '';

  const dispose = () => {
    tray?.destroy();
    tray = undefined;
    told = '';
  };

  return {
    dispose,
    update(progress) {
      if (progress.running === 0) return dispose();
      const text = describeProgress(progress);
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
      tray.setToolTip(`Dray: ${text}`);
      tray.setContextMenu(
        Menu.buildFromTemplate([
          { label: text, enabled: false },
          { type: 'separator' },
          { label: 'Show Transfers', click: () => actions.show('#/transfers') },
          { label: 'Pause All', click: actions.pauseAll },
          { type: 'separator' },
          { label: 'Quit Dray', click: actions.quit },
        ]),
      );
    },
  };
}

/** In steps of 5 percent, so that it rarely changes. */
function describeProgress({ running, fraction }: Progress): string {
  const what = `${running} ${running === 1 ? 'transfer' : 'transfers'}`;
  return fraction === undefined ? what : `${what}, ${Math.floor(fraction * 20) * 5} %`;
}
