/** Windows, pages and ports of the fake Electron. */
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import type { BrowserWindowConstructorOptions } from 'electron';

export interface FakeFrame {
  readonly url: string;
  readonly parent: FakeFrame | null;
}

export interface FakeNavigation {
  readonly url: string;
  readonly isMainFrame?: boolean;
}

type OpenHandler = (details: { readonly url: string }) => { readonly action: 'allow' | 'deny' };

/** An event that can be prevented, as in Electron. */
export function preventable(fields: object = {}): {
  defaultPrevented: boolean;
  preventDefault(): void;
} {
  return {
    ...fields,
    defaultPrevented: false,
    preventDefault() {
      this.defaultPrevented = true;
    },
  };
}

interface FakeDrag {
  readonly file: string;
  readonly files?: readonly string[];
  readonly icon: string | object;
}

export class FakeWebContents extends EventEmitter {
  readonly sent: {
    readonly channel: string;
    readonly message: unknown;
    readonly ports: readonly FakePort[];
  }[] = [];
  /** The files of each drag. */
  readonly dragged: (readonly string[])[] = [];
  reloads = 0;
  #url = '';
  #isDestroyed = false;
  #openHandler: OpenHandler | undefined;

  get mainFrame(): FakeFrame {
    return { url: this.#url, parent: null };
  }

  getURL(): string {
    return this.#url;
  }

  isLoading(): boolean {
    return false;
  }

  isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  reload(): void {
    this.reloads += 1;
  }

  /** By the app itself: emits no `will-navigate`, as in Electron. */
  load(url: string): void {
    this.#url = url;
  }

  /** By the page or by a user's click. @returns Whether it navigated. */
  navigate({ url, isMainFrame = true }: FakeNavigation): boolean {
    const frameEvent = preventable({ url, isMainFrame });
    this.emit('will-frame-navigate', frameEvent);
    const event = preventable({ url, isMainFrame });
    if (isMainFrame) this.emit('will-navigate', event);
    if (frameEvent.defaultPrevented || event.defaultPrevented) return false;
    if (isMainFrame) this.#url = url;
    return true;
  }

  /** A server's redirect. @returns Whether it was followed. */
  redirect(url: string): boolean {
    const event = preventable({ url });
    this.emit('will-redirect', event);
    return !event.defaultPrevented;
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#openHandler = handler;
  }

  /**
   * `window.open` or a link with a target. Without a handler Electron opens a window. @returns Whether one
   * opened.
   */
  openWindow(url: string): boolean {
    return (this.#openHandler?.({ url }) ?? { action: 'allow' }).action === 'allow';
  }

  send(channel: string, message: unknown): void {
    this.sent.push({ channel, message: structuredClone(message), ports: [] });
  }

  postMessage(channel: string, message: unknown, ports: readonly object[] = []): void {
    if (this.#isDestroyed) throw new TypeError('Object has been destroyed');
    this.sent.push({ channel, message: structuredClone(message), ports: ports as readonly FakePort[] });
  }

  /** The system takes paths of files that are there, and macOS an icon. */
  startDrag({ file, files = [file], icon }: FakeDrag): void {
    if (files.length === 0 || icon === '')
      throw new Error("Must specify non-empty 'icon' and 'file' options");
    for (const path of files) if (!existsSync(path)) throw new Error(`There is no file ${path}`);
    this.dragged.push(files);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.emit('destroyed');
  }
}

export interface FakeBounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export class FakeWindow extends EventEmitter {
  readonly webContents = new FakeWebContents();
  readonly options: BrowserWindowConstructorOptions;
  progress: { readonly value: number; readonly mode?: string } = { value: -1 };
  isShown = false;
  isFront = false;
  #bounds: FakeBounds;
  #isMaximized = false;
  #isMinimized = false;
  #isDestroyed = false;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.options = options;
    const { x = 50, y = 50, width = 800, height = 600, show = true } = options;
    this.#bounds = { x, y, width, height };
    this.isShown = show;
  }

  /** Painted at once. */
  async loadURL(url: string): Promise<void> {
    this.webContents.load(url);
    await Promise.resolve();
    if (!this.#isDestroyed) this.emit('ready-to-show');
  }

  show(): void {
    this.isShown = true;
  }

  focus(): void {
    this.isFront = true;
  }

  isFocused(): boolean {
    return this.isFront;
  }

  setBounds(bounds: Partial<FakeBounds>): void {
    this.#bounds = { ...this.#bounds, ...bounds };
    this.emit('resize');
    this.emit('move');
  }

  getNormalBounds(): FakeBounds {
    return this.#bounds;
  }

  maximize(): void {
    this.#isMaximized = true;
    this.emit('maximize');
  }

  isMaximized(): boolean {
    return this.#isMaximized;
  }

  minimize(): void {
    this.#isMinimized = true;
  }

  restore(): void {
    this.#isMinimized = false;
  }

  isMinimized(): boolean {
    return this.#isMinimized;
  }

  isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  setProgressBar(value: number, { mode }: { readonly mode?: string } = {}): void {
    this.progress = mode === undefined ? { value } : { value, mode };
  }

  /** @returns Whether it closed: a listener may prevent it. */
  close(): boolean {
    const event = preventable();
    this.emit('close', event);
    if (event.defaultPrevented) return false;
    this.#isDestroyed = true;
    this.webContents.destroy();
    this.emit('closed');
    return true;
  }
}

/**
 * Delivers copies, in order and later. Holds messages that come before `start`. Its other end gets an event
 * when it closes.
 */
export class FakePort extends EventEmitter {
  other: FakePort | undefined;
  #held: unknown[] | undefined = [];
  #isClosed = false;

  postMessage(message: unknown): void {
    const copy = structuredClone(message);
    if (!this.#isClosed) setImmediate(() => this.other?.receive(copy));
  }

  receive(data: unknown): void {
    if (this.#isClosed) return;
    if (this.#held) this.#held.push(data);
    else this.emit('message', { data, ports: [] });
  }

  start(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const data of held) this.emit('message', { data, ports: [] });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    setImmediate(() => {
      this.emit('close');
      this.other?.close();
    });
  }
}

export class FakeMessageChannel {
  readonly port1 = new FakePort();
  readonly port2 = new FakePort();

  constructor() {
    this.port1.other = this.port2;
    this.port2.other = this.port1;
  }
}
