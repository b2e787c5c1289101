/** Keeps the position of the window over restarts, and puts it where it is visible: a screen may be gone. */
import { readFileSync } from 'node:fs';
import type { BrowserWindow, Rectangle } from 'electron';
import { replaceFile } from '../../../engine/base/replace-file.ts';
import type { Electron } from '../electron-parts.ts';

export interface WindowState {
  /** Absent: the system chooses. */
  readonly x?: number;
  readonly y?: number;
  readonly width: number;
  readonly height: number;
  readonly isMaximized: boolean;
}

export const SMALLEST = { width: 720, height: 480 } as const;
const USUAL: WindowState = { width: 1280, height: 800, isMaximized: false };
/** At least this much of the title bar must be on a screen, so that it can be dragged. */
const GRIP = { width: 120, height: 32 } as const;
const SAVE_AFTER_MS = 500;

export function readWindowState(path: string, { screen }: Pick<Electron, 'screen'>): WindowState {
  const workAreas = screen.getAllDisplays().map(({ workArea }) => workArea);
  return fitState(parseState(path), workAreas);
}

/** Moves and resizes come by the hundred, so the state is saved when they pause, and at the end. */
export function keepWindowState(path: string, window: BrowserWindow): void {
  let timer: NodeJS.Timeout | undefined;
  const save = () => {
    clearTimeout(timer);
    if (!window.isDestroyed()) writeState(path, stateOf(window));
  };
  const saveSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_AFTER_MS);
    timer.unref();
  };
  window.on('resize', saveSoon);
  window.on('move', saveSoon);
  window.on('maximize', saveSoon);
  window.on('unmaximize', saveSoon);
  window.on('close', save);
}

/** For a maximized window, its normal bounds. */
function stateOf(window: BrowserWindow): WindowState {
  return { ...window.getNormalBounds(), isMaximized: window.isMaximized() };
}

export function fitState(state: WindowState, workAreas: readonly Rectangle[]): WindowState {
  const { x, y, isMaximized } = state;
  const area =
    workAreas.find(
      (candidate) => x !== undefined && y !== undefined && isReachable({ x, y, ...size(state) }, candidate),
    ) ?? workAreas[0];
  const width = Math.max(SMALLEST.width, Math.min(state.width, area?.width ?? state.width));
  const height = Math.max(SMALLEST.height, Math.min(state.height, area?.height ?? state.height));
  if (x === undefined || y === undefined || !area || !isReachable({ x, y, width, height }, area))
    return { width, height, isMaximized };
  return { x, y, width, height, isMaximized };
}

function isReachable(bounds: Rectangle, area: Rectangle): boolean {
  const across = Math.min(bounds.x + bounds.width, area.x + area.width) - Math.max(bounds.x, area.x);
  const isBarWithin = bounds.y >= area.y && bounds.y + GRIP.height <= area.y + area.height;
  return across >= GRIP.width && isBarWithin;
}

function size({ width, height }: WindowState): { readonly width: number; readonly height: number } {
  return { width, height };
}

/** A missing or invalid file counts as none. */
function parseState(path: string): WindowState {
  try {
    const { x, y, width, height, isMaximized } = JSON.parse(readFileSync(path, 'utf8'));
    if (!Number.isInteger(width) || !Number.isInteger(height)) return USUAL;
    const place = Number.isInteger(x) && Number.isInteger(y) ? { x, y } : {};
    return { ...place, width, height, isMaximized: isMaximized === true };
  } catch {
    return USUAL;
  }
}

/** Failing to save the position is not worth an error message. */
function writeState(path: string, state: WindowState): void {
  try {
    replaceFile(path, JSON.stringify(state));
  } catch {
    // The next start then uses the default position.
  }
}
