import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DesktopBridge, PORT_MESSAGE } from '../../engine/api/window/desktop-bridge.ts';

/** The parts of Electron and of its page that a sandboxed preload can use. */
const ipc = Object.assign(new EventEmitter(), {
  sent: [] as unknown[][],
  send: (...given: unknown[]) => void ipc.sent.push(given),
  invoke: async (...given: unknown[]) => given,
});
const exposed = new Map<string, unknown>();
vi.mock('electron', () => ({
  contextBridge: { exposeInMainWorld: (name: string, value: unknown) => exposed.set(name, value) },
  ipcRenderer: ipc,
  webUtils: { getPathForFile: ({ name }: File) => `/home/ada/${name}` },
}));

const page = { location: { hash: '', origin: 'dray-app://window' }, posted: [] as unknown[][] };
beforeEach(() => {
  vi.stubGlobal('location', page.location);
  vi.stubGlobal('postMessage', (...given: unknown[]) => page.posted.push(given));
});
afterEach(() => vi.unstubAllGlobals());

describe('the preload', () => {
  it('exposes one object to the page, and no part of Electron', async () => {
    await import('./preload.ts');
    expect([...exposed.keys()]).toEqual(['dray']);
    const bridge = exposed.get('dray') as DesktopBridge;
    expect(Object.keys(bridge).sort()).toEqual([
      'chooseFolder',
      'pathOf',
      'requestPort',
      'reveal',
      'secrets',
      'startDrag',
      'testNotice',
    ]);
    expect(bridge.pathOf({ name: 'a.bin' } as File)).toBe('/home/ada/a.bin');
    expect(await bridge.chooseFolder('Choose')).toEqual(['dray:choose-folder', 'Choose']);
    bridge.requestPort();
    expect(ipc.sent).toEqual([['dray:port']]);
  });

  it('hands a port only to its own page', async () => {
    await import('./preload.ts');
    const ports = [{}];
    ipc.emit('dray:port', { ports });
    expect(page.posted).toEqual([[PORT_MESSAGE, 'dray-app://window', ports]]);
  });

  it('leads the page to the place that a menu item names', async () => {
    await import('./preload.ts');
    ipc.emit('dray:show', {}, '#/transfers');
    expect(page.location.hash).toBe('#/transfers');
  });
});
